"""Replay: recorded words become a script again, and the answer names ready, stalled, wasted and a recommendation."""

from pathlib import Path

import orjson
import pytest

from cuecard.clock import run_virtual
from cuecard.events import Heard, NeedResolved, SessionStarted, write_lines
from cuecard.settings import Settings
from evals.replay.play import Setting, Tally, replay, summary
from evals.replay.report import write_page
from evals.replay.script import LogUnusable, check_procedures, read_scripts


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "call.jsonl"
    started = SessionStarted(
        at_s=1.0, session_id="s", tenant="t", procedure="insurance_renewal", version=1, prefetch="value"
    )
    events = [
        started,
        Heard(at_s=9.0, turn=2, text="I want to renew my car insurance", final=True),
        NeedResolved(at_s=11.0, turn=2, dep="identity", key="{}", how="live", stall_s=2.0, reason="nothing early"),
        Heard(at_s=21.0, turn=3, text="It's 303513 and I was born on 21 February 2000", final=True),
    ]
    with path.open("wb") as file:
        write_lines(file, events)
    return path


def test_a_log_becomes_the_words_and_the_pauses_without_the_waiting(log: Path) -> None:
    (script,) = read_scripts(log)
    assert script.procedure == "insurance_renewal"
    assert [turn.words for turn in script.turns][1].startswith("It's 303513")
    assert [turn.turn_s for turn in script.turns] == [8.0, 10.0]
    assert script.timed


def test_imported_sessions_become_scripts_with_typical_pauses(tmp_path: Path) -> None:
    path = tmp_path / "sessions.jsonl"
    turns = [
        {"speaker": "agent", "text": "Hello"},
        {"speaker": "user", "text": "I was"},
        {"speaker": "user", "text": "charged twice"},
    ]
    path.write_bytes(orjson.dumps({"session_id": "a", "sop": ["card_activation"], "turns": turns}))
    (script,) = read_scripts(path)
    assert [turn.words for turn in script.turns] == ["I was charged twice"]
    assert not script.timed


def test_a_file_without_words_says_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(orjson.dumps({"session_id": "a", "turns": [{"speaker": "agent", "text": "Hello"}]}))
    with pytest.raises(LogUnusable, match="no words"):
        read_scripts(path)


def test_the_oracle_hides_all_that_can_be_hidden_and_is_never_recommended(
    log: Path, settings: Settings, tmp_path: Path
) -> None:
    tallies = run_virtual(replay(read_scripts(log), [Setting("all_at_identity"), Setting()], settings=settings))
    result = summary(tallies, price_s=0.1)
    by = {row["setting"]: row for row in result["settings"]}
    assert list(by) == ["none", "oracle", "all_at_identity", "ours"]
    assert by["none"]["fetches"] == 0
    assert by["oracle"]["stall_s_per_call"] <= by["ours"]["stall_s_per_call"] + 1e-6
    assert all(row["diverged_turns"] == 0 for row in by.values())
    assert result["recommendation"]["setting"] in {"none", "all_at_identity", "ours"}
    page = write_page(result, log.name, tmp_path / "replay.html")
    assert "played again" in page.read_text(encoding="utf-8")


def test_where_nothing_pays_nothing_is_recommended() -> None:
    def tally(policy: str, stall_s: float, fetches: int) -> Tally:
        return Tally(Setting(policy), stalls_s=[stall_s], worst_s=[stall_s], fetches=fetches, wasted=fetches)

    result = summary([tally("none", 2.0, 0), tally("oracle", 1.0, 1), tally("ours", 1.5, 30)], price_s=0.5)
    assert result["recommendation"]["setting"] == "none"


def test_an_unknown_procedure_is_named_before_anything_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "call.jsonl"
    check_procedures(path, ["insurance_renewal", "insurance_renewal"])
    with pytest.raises(LogUnusable, match=r"follows 'doctor_followup'.*--procedure"):
        check_procedures(path, ["insurance_renewal", "doctor_followup"])
    with pytest.raises(LogUnusable, match="does not say whose procedure"):
        check_procedures(path, [""])
