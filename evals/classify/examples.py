"""Labelled utterances from JSON lines: flat, or in LangSmith's shape (inputs, reference_outputs, metadata)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict

from cuecard.errors import CuecardError

HELD_OUT = Path(__file__).parents[1] / "datasets" / "classify"


class DatasetError(CuecardError):
    """A line that cannot be scored; the message names the file and the line."""


class Example(BaseModel):
    """One utterance, the step it answers, and what it should be judged as. Unknown labels are None."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    sop: str
    utterance: str
    state: str
    action: str | None = None
    mood: str | None = None
    cohort: str | None = None
    prev_state: str | None = None
    dialogue: str | None = None
    order: float = 0.0
    """Place within the dialogue."""


def shipped_sets() -> list[Path]:
    """The committed held-out files, written apart from the procedures' own examples."""
    return sorted(HELD_OUT.glob("*.jsonl"))


def read_examples(path: Path) -> Iterator[Example]:
    """Every line as an example, in the file's order."""
    if not path.is_file():
        raise DatasetError(f"{path}: no such file. One JSON object a line: sop, action, utterance, state.")
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield Example.model_validate(_flat(orjson.loads(line), number))
        except (ValueError, TypeError) as error:
            raise DatasetError(
                f"{path}:{number}: not a labelled utterance: {str(error).splitlines()[0]}. "
                "Wanted: sop, utterance, state, and action where known."
            ) from error


def _flat(row: dict[str, Any], number: int) -> dict[str, Any]:
    """One level of fields; the dialogue and its order may stand in metadata under the usual names."""
    if "inputs" not in row:
        merged = dict(row)
    else:
        outputs = row.get("reference_outputs") or row.get("outputs") or {}
        merged = {**(row.get("metadata") or {}), **row["inputs"], **outputs}
    for name in ("dialogue_id", "conversation", "session_id"):
        if merged.get("dialogue") is None and merged.get(name) is not None:
            merged["dialogue"] = merged[name]
    for name in ("turn", "position", "index"):
        if merged.get("order") is None and merged.get(name) is not None:
            merged["order"] = merged[name]
    merged["order"] = number if merged.get("order") is None else merged["order"]
    if merged.get("dialogue") is not None:
        merged["dialogue"] = str(merged["dialogue"])
    merged["action"] = merged.get("action") or None
    return merged
