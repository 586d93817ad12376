"""Writes a small procedure that passes the check and can be called at once, to start one's own from."""

import re
from pathlib import Path

TEMPLATE = Path(__file__).parent / "template"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class StarterRefused(ValueError):
    """The starter can't be written; the message says why and what to do."""


def write_starter(name: str, folder: Path) -> list[Path]:
    """`NAME.yaml`, its table data and a few documents, in `folder`. Overwrites nothing; raises StarterRefused."""
    if not _NAME.fullmatch(name):
        remedy = "Use lower-case letters, digits and underscores, starting with a letter, such as parcel_status."
        raise StarterRefused(f"{name!r} is no name for a procedure. {remedy}")
    files = {
        folder / f"{name}.yaml": TEMPLATE / "procedure.yaml",
        folder / f"{name}.data.yaml": TEMPLATE / "data.yaml",
    }
    for document in sorted((TEMPLATE / "documents").glob("*.md")):
        files[folder / f"{name}_corpus" / document.name] = document
    taken = [path for path in files if path.exists()]
    if taken:
        raise StarterRefused(f"{taken[0]} is there already. Choose another name or folder; nothing was written.")
    try:
        for path, template in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(template.read_text(encoding="utf-8").replace("@NAME@", name), encoding="utf-8")
    except OSError as error:
        raise StarterRefused(f"{folder} can't be written to: {error}. Give another folder with --out.") from error
    return list(files)
