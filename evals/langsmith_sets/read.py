"""Reads and validates examples: one JSON object a line, accepted by LangSmith's own `ExampleCreate`."""

from pathlib import Path
from typing import Any

import orjson
from langsmith.schemas import ExampleCreate
from pydantic import ValidationError

from cuecard.errors import CuecardError

FOLDER = Path(__file__).parent.parent / "datasets"
FIELDS = {"id", "inputs", "reference_outputs", "metadata", "split"}


class DatasetInvalid(CuecardError):
    """A line is not an example; the message says which line of which file, and why."""


def files_of(dataset: str, folder: Path = FOLDER) -> list[Path]:
    return sorted((folder / dataset).glob("*.jsonl"))


def read_examples(dataset: str, folder: Path = FOLDER, split: str | None = None) -> list[dict[str, Any]]:
    """All examples of a dataset, or of one split; DatasetInvalid for the first bad line or repeated id."""
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for path in files_of(dataset, folder):
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            row = validated(line, f"{path}:{number}")
            if row["id"] in seen:
                raise DatasetInvalid(f"{path}:{number}: the id {row['id']} was used before")
            seen.add(row["id"])
            if split is None or split in row["split"]:
                rows.append(row)
    if not rows:
        raise DatasetInvalid(
            f"{folder / dataset}: no examples. Write them with `python -m evals.langsmith_sets.build`."
        )
    return rows


def validated(line: bytes, where: str) -> dict[str, Any]:
    """One line as an example. A field that LangSmith does not know is an error, not a field that gets lost."""
    try:
        row: dict[str, Any] = orjson.loads(line)
        unknown = set(row) - FIELDS
        if unknown or not {"id", "inputs", "split"} <= set(row):
            raise DatasetInvalid(f"{where}: fields are {sorted(row)}; wanted {sorted(FIELDS)}")
        ExampleCreate.model_validate(row)
    except (orjson.JSONDecodeError, ValidationError, TypeError, AttributeError) as error:
        raise DatasetInvalid(f"{where}: not an example: {str(error).splitlines()[0]}") from error
    return row
