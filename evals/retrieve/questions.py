"""Questions with their gold documents and the turn before them: JSONL in the shape of LangSmith's examples."""

from pathlib import Path
from typing import Literal, NamedTuple

import orjson

FOLDER = Path(__file__).parent.parent / "datasets" / "retrieve"
CORPORA = ("insurance_renewal", "card_activation", "medical_booking", "insurance_fine", "insurance_large")

Split = Literal["dev", "test"]


class Question(NamedTuple):
    """What a caller asks, what was said just before, and the documents that answer it."""

    words: str
    previous_caller: str
    previous_agent: str
    doc_ids: frozenset[str]
    kind: str
    """How much the words alone give away: `whole`, or `situation_before` and `topic_before` when a part was said a turn
    earlier; `written` for those of the small corpora, which come from no table."""

    @property
    def before(self) -> str:
        """All that was known a turn before the question."""
        return f"{self.previous_caller} {self.previous_agent}".strip()


def path_of(corpus: str) -> Path:
    """The file that holds a corpus's questions."""
    return FOLDER / f"{corpus}.jsonl"


def load_questions(corpus: str, split: Split) -> list[Question]:
    """The questions of one split; choices are made on `dev`, figures come from `test`."""
    rows = [orjson.loads(line) for line in path_of(corpus).read_bytes().splitlines()]
    return [
        Question(
            words=row["inputs"]["question"],
            previous_caller=row["inputs"]["previous_caller"],
            previous_agent=row["inputs"]["previous_agent"],
            doc_ids=frozenset(row["reference_outputs"]["doc_ids"]),
            kind=row["metadata"]["kind"],
        )
        for row in rows
        if split in row["split"]
    ]
