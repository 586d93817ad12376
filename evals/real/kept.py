"""What a long run has finished so far, on disk: a run that was cut off goes on where it stopped."""

import hashlib
from pathlib import Path
from typing import Any

import orjson


class Kept:
    """Finished parts by name, one JSON line each. Parts of a run that was set up differently are not taken over."""

    def __init__(self, path: Path, setup: object) -> None:
        """`setup`: everything the parts depend on, as JSON would hold it."""
        self._path = path
        self._setup = hashlib.sha256(orjson.dumps(setup, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
        self._parts: dict[str, Any] = {}
        for line in path.read_bytes().splitlines() if path.is_file() else ():
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue  # the line that was being written when the run was cut off
            if row.get("setup") == self._setup:
                self._parts[row["name"]] = row["part"]

    def __len__(self) -> int:
        return len(self._parts)

    def get(self, name: str) -> Any | None:
        return self._parts.get(name)

    def add(self, name: str, part: Any) -> None:
        self._parts[name] = part
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(orjson.dumps({"setup": self._setup, "name": name, "part": part}) + b"\n")

    def finish(self) -> None:
        """The run is whole: nothing needs to be kept."""
        self._path.unlink(missing_ok=True)
