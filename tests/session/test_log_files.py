"""A session's log on disk: whole whatever happens to it, and found again under whatever name."""

import threading
from pathlib import Path

import pytest

from cuecard.events import EventLog, Heard, SessionStarted, Spoke, read_lines
from cuecard.log_files import log_file, log_files


def log_at(path: Path) -> EventLog:
    return EventLog(clock=lambda: 1.0, path=path)


def test_a_turn_and_a_pass_that_flush_together_write_each_event_once(tmp_path: Path) -> None:
    log = log_at(tmp_path / "a.jsonl")
    for n in range(5000):
        log.emit(Heard(text=str(n), final=True))
    threads = [threading.Thread(target=log.flush) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.text for event in read_lines(tmp_path / "a.jsonl") if isinstance(event, Heard)] == [
        str(n) for n in range(5000)
    ]


def test_a_line_that_a_dying_process_cut_off_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type":"Heard","text":"one","final":true}\n{"type":"Heard","te')
    log = log_at(path)
    log.emit(Spoke(text="two", action="greet"))
    log.flush()
    log.emit(Spoke(text="three", action="greet"))
    log.flush()
    assert [getattr(event, "text", "") for event in read_lines(path)] == ["one", "two", "three"]


def test_a_line_separator_in_somebodys_words_ends_no_line(tmp_path: Path) -> None:
    log = log_at(tmp_path / "a.jsonl")
    log.emit(Spoke(text="one\u2028two\x85three", action="greet"))
    log.flush()
    assert [event.text for event in read_lines(tmp_path / "a.jsonl") if isinstance(event, Spoke)] == [
        "one\u2028two\x85three"
    ]


def test_a_log_that_cannot_be_written_ends_no_call_and_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "in the way").write_text("a file")
    log = log_at(tmp_path / "in the way" / "a.jsonl")
    log.emit(Spoke(text="hello", action="greet"))
    log.flush()
    assert "cannot be written" in caplog.text
    (tmp_path / "in the way").unlink()
    log.flush()
    assert len(read_lines(tmp_path / "in the way" / "a.jsonl")) == 1


@pytest.mark.parametrize("name", ["a", "..", "a/b", "x" * 128, "звонок " * 18, "😀" * 64])
def test_every_name_has_a_file_of_its_own_and_is_read_back(tmp_path: Path, name: str) -> None:
    paths = {name: log_file(tmp_path, name[:64], name), "other": log_file(tmp_path, name[:64], f"{name[:-1]}!")}
    for session, path in paths.items():
        log = log_at(path)
        log.emit(SessionStarted(session_id=session, tenant=name[:64], procedure="p", version=1, prefetch="value"))
        log.flush()
        assert path.is_relative_to(tmp_path / "events")
    folder = paths[name].parent
    assert {(one.tenant, one.session) for one in log_files(folder)} == {(name[:64], name), (name[:64], "other")}
