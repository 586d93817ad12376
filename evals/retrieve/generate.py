"""Questions for the fine and large corpora, made from `phrases.yaml`, which shares no table with the documents.

`python -m evals.retrieve.generate` writes the two committed files again; the seed is fixed.
"""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import orjson
import yaml

from corpus import load_corpus
from evals.retrieve.questions import Split, path_of

PHRASES = Path(__file__).with_name("phrases.yaml")
SEED = 20_260_201
N_QUESTIONS: Mapping[Split, int] = {"dev": 120, "test": 360}
KINDS = {"whole": 0.6, "situation_before": 0.25, "topic_before": 0.15}
"""In real conversations a part of the question is often said a turn earlier and only hinted at later."""
HINTS = {"nothing": 0.3, "situation": 0.35, "topic": 0.2, "both": 0.15}
"""What the turn before a whole question speaks of already."""
P_OPENER = 0.4

Row = dict[str, Any]


def generate(corpus: str) -> Iterator[Row]:
    """One row a question; no document is asked for twice, and dev and test share no phrase that can be kept apart."""
    rng = random.Random(f"{SEED} {corpus}")
    phrases = yaml.safe_load(PHRASES.read_text(encoding="utf-8"))
    ids = [document.id for document in load_corpus(corpus)]
    rng.shuffle(ids)
    start = 0
    for split, n in N_QUESTIONS.items():
        for doc_id in ids[start : start + n]:
            yield _row(corpus, doc_id, split, _ask(rng, phrases, doc_id.split("."), split))
        start += n


def _row(corpus: str, doc_id: str, split: Split, asked: dict[str, str]) -> Row:
    kind = asked.pop("kind")
    return {
        "id": str(uuid5(NAMESPACE_URL, f"cuecard/{corpus}/{asked['question']}/{doc_id}")),
        "inputs": asked,
        "reference_outputs": {"doc_ids": [doc_id]},
        "metadata": {"corpus": corpus, "kind": kind, "source": "generated"},
        "split": [split],
    }


def _ask(rng: random.Random, phrases: Mapping[str, Any], parts: list[str], split: Split) -> dict[str, str]:
    """A question and the turn before it. The level of cover, where there is one, is always said in one of the two."""
    topic, situation = phrases["topics"][parts[0]], phrases["situations"][parts[1]]
    level = phrases["levels"][parts[2]] if len(parts) > 2 else None
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    who = rng.choice(_of_split(situation["who"], split))
    said = rng.choice(phrases["neutral_caller"])
    if kind == "whole":
        words = rng.choice(_of_split(topic["ask"], split)).format(who=who)
        hint = rng.choices(list(HINTS), list(HINTS.values()))[0]
        hints = [rng.choice(part["said"]) for part in _hinted(hint, situation, topic)]
        said = ", ".join(hints) or said
    elif kind == "situation_before":
        words = rng.choice(_of_split(topic["ask"], split)).format(who="that")
        said = rng.choice(situation["said"])
    else:
        words = f"and what about {who}"
        said = rng.choice(_of_split(topic["ask"], split)).format(who="just me")
    if level is not None:
        if rng.random() < 0.5:
            words = f"{words} {rng.choice(level['tag'])}"
        else:
            said = f"{said}, {rng.choice(level['said'])}"
    if rng.random() < P_OPENER:
        words = f"{rng.choice(phrases['openers'])} {words}"
    return {
        "previous_caller": said,
        "previous_agent": rng.choice(phrases["neutral_agent"]),
        "question": words,
        "kind": kind,
    }


def _hinted(hint: str, situation: Mapping[str, Any], topic: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return {"nothing": [], "situation": [situation], "topic": [topic], "both": [situation, topic]}[hint]


def _of_split(choices: list[str], split: Split) -> list[str]:
    """The first phrase belongs to dev, the others to test."""
    return choices[:1] if split == "dev" else choices[1:]


def main() -> None:
    """Write the committed files."""
    for corpus in ("insurance_fine", "insurance_large"):
        path_of(corpus).write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in generate(corpus)))


if __name__ == "__main__":
    main()
