import gzip
from pathlib import Path

import orjson
import pytest

from evals.real.sessions import DataError, read_sessions
from evals.real.splits import at_random, by_time
from evals.real.views import turn_views, view_at
from tests.real.calls import asked, balance_call, raw, said, session, user


def test_bad_lines_are_named_by_number_and_the_rest_is_read(tmp_path: Path) -> None:
    good = orjson.dumps(raw(1, user("hi"), said("hello")))
    no_turns = orjson.dumps({"session_id": "s3", "turns": []})
    stranger = orjson.dumps(raw(4, {"speaker": "martian", "text": "?"}))
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b"\n".join([good, b'{"session_id": ', no_turns, stranger, b"", good]))
    loaded = read_sessions(path)
    assert [one.session_id for one in loaded.sessions] == ["s1"]
    assert [bad.number for bad in loaded.bad] == [2, 3, 4, 6]
    assert "not JSON" in loaded.bad[0].why
    assert "seen before" in loaded.bad[3].why


def test_gzip_and_plain_files_read_the_same_and_a_torn_one_is_an_error(tmp_path: Path) -> None:
    line = orjson.dumps(balance_call(1))
    (tmp_path / "a.jsonl").write_bytes(line)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(line))
    (tmp_path / "torn.jsonl.gz").write_bytes(gzip.compress(line)[:-12])
    assert read_sessions(tmp_path / "a.jsonl") == read_sessions(tmp_path / "a.jsonl.gz")
    with pytest.raises(DataError, match="not a whole gzip"):
        read_sessions(tmp_path / "torn.jsonl.gz")
    with pytest.raises(DataError, match="no such file"):
        read_sessions(tmp_path / "none.jsonl")


def test_a_query_and_the_sentence_after_it_are_one_turn_named_by_the_query() -> None:
    turns = turn_views(session(1, user("hi"), asked("bank", {"Balance": "7"}), said("inform_balance"), user("thanks")))
    assert len(turns) == 1
    assert turns[0].label == "query:bank"
    assert turns[0].action == "inform_balance"
    assert turns[0].source == "bank"
    assert "out Balance=7" in turns[0].fetched


def test_words_without_a_label_are_history_and_no_target() -> None:
    turns = turn_views(session(1, user("hi"), said("freeform", "Well"), user("?"), said("freeform"), said("ask_pin")))
    assert turns[0].label == "freeform"
    assert turns[1].label == "ask_pin"


def test_what_nobody_knows_while_predicting_is_not_even_read() -> None:
    call = session(1, user("hi"), said("hello"))
    assert "random" not in call.model_dump_json()
    assert "happy" not in call.model_dump_json()


def test_a_view_ends_with_the_agent_turn_it_stands_after() -> None:
    turns = turn_views(session(1, user("a"), said("hello"), user("b"), said("ask_pin"), user("c"), said("goodbye_1")))
    view = view_at(turns, 1)
    assert view.actions == ("hello", "ask_pin")
    assert view.turns[-1].utterance == "b"


def test_the_split_by_time_goes_by_the_clock_and_not_by_name() -> None:
    calls = [session(number, user("hi"), said("hello")) for number in (5, 3, 9, 1, 7, 2, 8, 4, 6, 10)]
    split = by_time(calls)
    assert [call.session_id for call in split.test] == ["s9", "s10"]
    assert len(split.train) == 8


def test_a_random_split_repeats_with_its_seed_and_holds_nobody_twice() -> None:
    calls = [session(number, user("hi"), said("hello")) for number in range(1, 21)]
    split = at_random(calls, 3)
    assert split == at_random(calls, 3)
    assert split != at_random(calls, 4)
    names = {call.session_id for call in split.train} | {call.session_id for call in split.test}
    assert len(split.test) == 4
    assert len(names) == 20
