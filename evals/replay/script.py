"""A recorded call as a script: the caller's words and their timing, from our event log or from imported sessions."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from cuecard.errors import CuecardError
from cuecard.events import Event, Heard, NeedResolved, SessionStarted, from_json
from evals.callers import CallerTurn
from evals.callers.timing import LONGEST_S, MEDIAN_S, draw_turn_s, interims, speech_s
from evals.real.sessions import read_sessions
from sops.loader import ProcedureNotFound, load_procedure

SHORTEST_S = 0.5


class LogUnusable(CuecardError):
    """The file is neither an event log nor imported sessions, or holds no words; the message says which."""


@dataclass(frozen=True, slots=True)
class Script:
    """One call to play again."""

    name: str
    procedure: str
    """"" when the file does not say."""
    turns: tuple[CallerTurn, ...]
    timed: bool
    """Times are those of the record; else typical ones were drawn."""


def read_scripts(path: Path) -> list[Script]:
    """All calls of a file. Unfinished words are not recorded: they are spread over the time it takes to say them."""
    if not path.is_file():
        raise LogUnusable(f"{path}: no such file. Give a session's event log or imported sessions, one JSON a line.")
    first = (
        next((line for line in path.read_bytes().splitlines() if line.strip()), b"") if path.suffix != ".gz" else b""
    )
    try:
        is_log = "type" in orjson.loads(first) if first else False
    except orjson.JSONDecodeError as error:
        raise LogUnusable(f"{path}: its first line is not JSON ({error})") from error
    scripts = _from_log(path) if is_log else _from_sessions(path)
    usable = [script for script in scripts if script.turns]
    if not usable:
        raise LogUnusable(f"{path}: holds no words of a caller, so there is nothing to play again")
    return usable


def check_procedures(path: Path, named: Iterable[str]) -> None:
    """LogUnusable unless these are procedures that can be played: before models are loaded, and with what to do."""
    for name in sorted(set(named)):
        if not name:
            raise LogUnusable(f"{path}: does not say whose procedure it followed; give --procedure")
        try:
            load_procedure(name)
        except ProcedureNotFound as error:
            remedy = "With --procedure it is played as another; of your own give the file: --procedure ./mine.yaml."
            raise LogUnusable(f"{path}: follows {name!r}. {error} {remedy}") from error


def _from_log(path: Path) -> list[Script]:
    """A log holds one session; several logs in one file are told apart by their opening events."""
    calls: list[list[Event]] = []
    for line in path.read_bytes().splitlines():
        try:
            event = from_json(_known(orjson.loads(line)))
        except (orjson.JSONDecodeError, KeyError):
            # A line cut off by a crash, or an event of a part that is not installed here.
            continue
        if (isinstance(event, SessionStarted) and not event.resumed) or not calls:
            calls.append([])
        calls[-1].append(event)
    return [_script(events) for events in calls]


def _known(row: dict[str, Any]) -> dict[str, Any]:
    # Importing registers the prefetcher's event types, which logs hold beside the core's.
    import cuecard.prefetch.events  # noqa: F401

    return row


def _script(events: Sequence[Event]) -> Script:
    started = next((one for one in events if isinstance(one, SessionStarted)), None)
    waited: dict[int, float] = {}
    for event in events:
        if isinstance(event, NeedResolved):
            waited[event.turn] = max(waited.get(event.turn, 0.0), event.stall_s)
    finals = [one for one in events if isinstance(one, Heard) and one.final and one.text]
    name = started.session_id if started is not None else "recorded"
    before_s = started.at_s if started is not None else finals[0].at_s - MEDIAN_S if finals else 0.0
    gaps = []
    for n, heard in enumerate(finals):
        stalled_s = waited.get(finals[n - 1].turn, 0.0) if n else 0.0
        gaps.append(heard.at_s - before_s - stalled_s)
        before_s = heard.at_s
    turns = _turns([heard.text for heard in finals], gaps, name)
    return Script(name, started.procedure if started is not None else "", turns, True)


def _from_sessions(path: Path) -> list[Script]:
    """Imported sessions: the user's utterances; what one says in several lines before an answer is one turn."""
    scripts = []
    for session in read_sessions(path).sessions:
        words: list[str] = []
        times: list[float | None] = []
        last = ""
        for turn in session.turns:
            if turn.speaker == "user" and turn.text:
                if last == "user" and words:
                    words[-1] = f"{words[-1]} {turn.text}"
                    times[-1] = turn.t
                else:
                    words.append(turn.text)
                    times.append(turn.t)
            last = turn.speaker
        known = [at for at in times if at is not None]
        timed = len(known) == len(times) and len(known) > 1
        gaps = [b - a for a, b in pairwise(known)] if timed else []
        procedure = session.sop[0] if session.sop else ""
        turns = _turns(words, [median(gaps), *gaps] if gaps else [], session.session_id)
        scripts.append(Script(session.session_id, procedure, turns, timed))
    return scripts


def _turns(words: Sequence[str], gaps: Sequence[float], name: str) -> tuple[CallerTurn, ...]:
    """Where no times are known, typical ones are drawn, the same for the same call."""
    rng = random.Random(name)
    found = []
    for n, text in enumerate(words):
        turn_s = gaps[n] if n < len(gaps) else draw_turn_s(rng)
        turn_s = min(LONGEST_S, max(SHORTEST_S, turn_s))
        lasting_s = speech_s(text, turn_s)
        found.append(CallerTurn(text, text, "recorded", turn_s, lasting_s, interims(text, lasting_s, rng)))
    return tuple(found)
