"""Where a session's event log lies under the data folder, and whose a log file is."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

import orjson

LONGEST = 160
"""Of an encoded name so much goes into a file's name; file systems end at 255 bytes."""


class LogFile(NamedTuple):
    tenant: str
    session: str
    path: Path


def log_file(data_dir: Path, tenant: str, session: str) -> Path:
    """The file of that session's log."""
    return data_dir / "events" / _file_name(tenant) / f"{_file_name(session)}.jsonl"


def log_files(folder: Path) -> Iterator[LogFile]:
    """The logs in one tenant's folder. Whose they are stands in their first line, since long names do not fit a file's.

    Where that line was cut off by a crash, the file's name has to do.
    """
    for path in folder.glob("*.jsonl"):
        with path.open("rb") as file:
            try:
                first = orjson.loads(file.readline())
            except orjson.JSONDecodeError:
                first = {}
        tenant, session = first.get("tenant"), first.get("session_id")
        yield LogFile(tenant or unquote(folder.name), session or unquote(path.stem), path)


def remove_logs_before(data_dir: Path, before: float) -> None:
    """Remove the logs last written to before then (Unix seconds), and the folders of tenants that have no other."""
    for folder in (data_dir / "events").glob("*"):
        for path in folder.glob("*.jsonl"):
            if path.stat().st_mtime < before:
                path.unlink(missing_ok=True)
        remove_if_empty(folder)


def remove_if_empty(folder: Path) -> None:
    """A folder bears its tenant's name, which goes with its last log. One that another process fills just now stays."""
    with suppress(OSError):
        folder.rmdir()


def _file_name(name: str) -> str:
    """Letters, digits, dash and underscore stay, everything else is percent-encoded; very long names end in a hash."""
    encoded = quote(name, safe="").replace(".", "%2E") or "%"
    if len(encoded) <= LONGEST:
        return encoded
    return f"{encoded[:LONGEST]}~{hashlib.blake2b(name.encode(), digest_size=12).hexdigest()}"
