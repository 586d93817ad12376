"""Reads recorded sessions: one JSON object a line, plain or gzip. Bad lines are named and skipped as a whole."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from cuecard.errors import CuecardError

Filled = Annotated[str, StringConstraints(min_length=1)]


class DataError(CuecardError):
    """A data file cannot be used; the message says which and what to do."""


class Query(BaseModel):
    """A knowledge-base call: where to, with which arguments."""

    model_config = ConfigDict(frozen=True)
    source: Filled
    args: dict[str, Any] = Field(default_factory=dict)


class RawTurn(BaseModel):
    """One utterance or one query. Fields nobody knows while predicting (`guide`) are not read at all."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    speaker: Literal["user", "agent"]
    text: str = ""
    action: str = ""
    state: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    query: Query | None = None
    result: Any = None
    n_results: int = -1
    task: str | None = None
    t: float | None = None


class Session(BaseModel):
    """One recorded conversation. `meta` (questionnaires) is not read."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    session_id: Filled
    dataset: str = ""
    split: str = ""
    sop: tuple[str, ...] = ()
    domain: tuple[str | None, ...] = ()
    outcome: str = ""
    turns: tuple[RawTurn, ...] = Field(min_length=1)

    @property
    def started_at(self) -> float:
        return self.turns[0].t or 0.0

    @property
    def multi_procedure(self) -> bool:
        return len(self.sop) > 1


class BadLine(NamedTuple):
    number: int
    """Counted from 1."""
    why: str


@dataclass(frozen=True, slots=True)
class Loaded:
    sessions: list[Session]
    bad: list[BadLine]


def read_sessions(path: Path) -> Loaded:
    """All good sessions of a file, in file order, and every bad line with its number. A repeated id is a bad line."""
    sessions: list[Session] = []
    bad: list[BadLine] = []
    seen: set[str] = set()
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            session = Session.model_validate(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            bad.append(BadLine(number, f"not JSON: {error}"))
            continue
        except ValidationError as error:
            first = error.errors()[0]
            bad.append(BadLine(number, f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"))
            continue
        if session.session_id in seen:
            bad.append(BadLine(number, f"session_id {session.session_id!r} was seen before"))
            continue
        seen.add(session.session_id)
        sessions.append(session)
    return Loaded(sessions, bad)


def _lines(path: Path) -> Iterator[bytes]:
    if not path.is_file():
        raise DataError(
            f"{path}: no such file. Give the path of a session file (one JSON object a line, .gz or plain)."
        )
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            yield from file
    except (gzip.BadGzipFile, EOFError) as error:
        raise DataError(f"{path}: not a whole gzip file ({error}). Fetch it again.") from error
