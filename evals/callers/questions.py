"""The questions callers ask: held-out ones of the corpus, with the documents that answer them."""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from evals.callers.wording import load_wording

FOLDER = Path(__file__).parent.parent / "datasets" / "retrieve"


class Question(NamedTuple):
    text: str
    gold: tuple[str, ...] = ()
    """Ids of the documents that answer it; empty where nobody has said."""


@lru_cache(maxsize=16)
def load_questions(procedure: str, split: str = "test") -> tuple[Question, ...]:
    """The question set of a procedure's corpus; the wording's own questions when there is none.

    Callers ask from the test split: what predicts questions may know the dev split.
    """
    path = FOLDER / f"{procedure}.jsonl"
    rows = _rows(path) if path.is_file() else []
    found = tuple(_question(row) for row in rows if split in row.get("split", [split]))
    return found or tuple(Question(text) for text in load_wording(procedure).questions)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def _question(row: dict[str, Any]) -> Question:
    inputs, reference = row.get("inputs", row), row.get("reference_outputs", row)
    gold = reference.get("doc_ids", ())
    return Question(str(inputs["question"]), tuple([gold] if isinstance(gold, str) else gold))
