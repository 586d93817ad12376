"""The insurance corpus in a fine edition (one document a situation and topic) and a large one (near-twins).

Written from the tables beside it; the same seed gives the same documents everywhere. `python -m corpus insurance_fine
FOLDER` writes them as Markdown files for reading.
"""

import random
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from corpus.documents import Document

TABLES = Path(__file__).parent / "tables"
SEED = 20_260_101
EDITIONS: Mapping[str, str] = {
    "insurance_fine": "every topic for every situation",
    "insurance_large": "every topic for every situation at every level of cover",
}
_N_FURTHER_LINES = 3

Table = Mapping[str, Any]


def generate(edition: str) -> list[Document]:
    """All documents of an edition, sorted by id."""
    return sorted(_fine() if edition == "insurance_fine" else _large())


def table(name: str) -> Table:
    """One of the tables: situations, topics or levels."""
    return _read(TABLES / f"{name}.yaml")


@lru_cache(maxsize=8)
def _read(path: Path) -> Table:
    data: Table = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


def _fine() -> Iterator[Document]:
    for (situation, about), (topic, explained) in product(table("situations").items(), table("topics").items()):
        yield _document(f"{topic}.{situation}", topic, about, explained, level=None)


def _large() -> Iterator[Document]:
    cases = product(table("situations").items(), table("topics").items(), table("levels").items())
    for (situation, about), (topic, explained), (name, level) in cases:
        yield _document(f"{topic}.{situation}.{name}", topic, about, explained, level)


def _document(doc_id: str, topic: str, about: Table, explained: Table, level: Table | None) -> Document:
    """One document: the topic's rules with numbers of their own, and the conditions of the situation and level."""
    rng = random.Random(f"{SEED} {doc_id}")
    family = explained["family"]
    values = {name: rng.randrange(low, high + 1, step) for name, (low, high, step) in explained["numbers"].items()}
    lines = [explained["lines"][0], *rng.sample(explained["lines"][1:], _N_FURTHER_LINES)]
    sentences = [line.format(**values) for line in lines] + [about[family]]
    where = f"{explained['title']} for {about['who']}"
    if level is not None:
        where += f" ({level['name']})"
        sentences.append(level[family])
    rng.shuffle(sentences)
    return Document(
        id=doc_id,
        title=where,
        topic=topic,
        text=f"These rules hold for {about['who']}. " + " ".join(sentences),
        answer=explained["answer"].format(who=about["who"], **values),
    )
