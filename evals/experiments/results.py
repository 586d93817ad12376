"""A run's recorded rows: one JSON-lines file whose first line says under which bar, by which code and when it began."""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from evals.experiments.types import Row


@dataclass(frozen=True, slots=True)
class Header:
    """Written before the first row, never changed."""

    experiment: str
    bar_sha256: str
    bar_known_by: str
    bar_commit: str
    bar_committed_at: float | None
    begun_at: float
    """Unix seconds."""
    code: str
    """Fingerprint of the product's files: another one starts the run anew."""
    options: dict[str, Any] = field(default_factory=dict)
    model: str = ""
    """The chat model that took part; "" for none."""
    mark: str = ""
    """What must stand beside every figure made with that model."""
    player: str = ""
    """Fingerprint of the experiment's own files, which say what a row holds; "" in old runs."""
    load: float | None = None
    """Processes that wanted a core when it began (one-minute average): wall times mean little far above the cores."""


@dataclass(slots=True)
class Results:
    """A file of rows. Reading tolerates a last line cut off by a crash; that unit is played again."""

    path: Path
    header: Header
    rows: list[Row] = field(default_factory=list)

    @property
    def done(self) -> set[str]:
        """Units that were finished: their closing row is there."""
        return {row["unit"] for row in self.rows if row.get("closes")}

    def append(self, unit: str, rows: Sequence[Row], at: float) -> None:
        """All rows of one unit in one write, the last of which closes it."""
        stamped = [{**row, "unit": unit} for row in rows] + [{"unit": unit, "closes": True, "at": round(at, 3)}]
        with self.path.open("ab") as file:
            file.write(b"".join(orjson.dumps(row) + b"\n" for row in stamped))
        self.rows += stamped

    @property
    def measured(self) -> list[Row]:
        """The rows of finished units, in an order that does not hang on which process was faster."""
        done = self.done
        rows = [row for row in self.rows if row["unit"] in done and not row.get("closes")]
        return sorted(rows, key=lambda row: row["unit"])

    @property
    def sha256(self) -> str:
        """Of all recorded rows: changing one anywhere changes it."""
        lines = sorted(orjson.dumps(row, option=orjson.OPT_SORT_KEYS) for row in self.rows)
        return hashlib.sha256(b"\n".join(lines)).hexdigest()


def begin(path: Path, header: Header) -> Results:
    """A new file in place of any old one; the header is on disk before anything is played."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(asdict(header)) + b"\n")
    return Results(path, header)


def publish(results: Results, path: Path) -> Results:
    """The finished run at `path`, in one step: until then what was kept there stays whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    shutil.copyfile(results.path, unfinished)
    unfinished.replace(path)
    return Results(path, results.header, results.rows)


def read(path: Path) -> Results | None:
    """What was recorded; None when there is nothing that can be read."""
    if not path.is_file():
        return None
    lines = path.read_bytes().splitlines()
    rows = []
    try:
        header = Header(**orjson.loads(lines[0]))
    except (IndexError, TypeError, orjson.JSONDecodeError):
        return None
    for line in lines[1:]:
        try:
            rows.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            break
    return Results(path, header, rows)
