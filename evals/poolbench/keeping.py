"""What the pool keeps, how fast it picks, and what small talk is offered."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson

from corpus import load_corpus
from corpus.vectors import Embed, Vectors
from cuecard.needs import FIT_COSINE
from cuecard.pool import CAP, MOST_PIECES, Item, Pool, context_query
from evals.poolbench.corpora import Library
from evals.poolbench.run import Share, item_of
from evals.retrieve.questions import load_questions

FACTS = 5
CHURN_TURNS = 20
ITEMS_PER_TURN = 15
"""Five guesses of three documents."""
CLASSIFY = Path(__file__).parent.parent / "datasets" / "classify"
TALK = frozenset({"small_talk", "says_goodbye"})


def kept_facts(library: Library, *, pinned: bool, seed: int = 0) -> Share:
    """How many of a caller's facts are still in the pool after twenty turns of guesses."""
    dice = np.random.default_rng(seed)
    pool = Pool(CAP)
    for n in range(FACTS):
        pool.add(Item(f"fact:{n}", "fact", f"fact {n}", vector=_random_unit(dice), pinned=pinned))
    for _ in range(CHURN_TURNS):
        for row in dice.integers(0, len(library.documents), ITEMS_PER_TURN).tolist():
            pool.add(item_of(library, row))
    return Share(sum(pool.by_id(f"fact:{n}") is not None for n in range(FACTS)), FACTS)


def select_us(rounds: int = 3000, seed: int = 0) -> tuple[float, float]:
    """Microseconds (p50, p95) from the embedded words to three picks, on a full pool of passages as long as a corpus's.

    The context query is included, and the caller says what a line of small talk or a question says.
    """
    dice = np.random.default_rng(seed)
    pool = Pool(CAP)
    for n, document in enumerate(load_corpus("insurance_fine")[:CAP]):
        pieces = np.stack([_random_unit(dice) for _ in range(MOST_PIECES)])
        pool.add(Item(f"doc{n}", "answers", document.text, vector=_random_unit(dice), pieces=pieces))
    pool.asked_for([f"doc{n}" for n in range(6)])
    queries = [_random_unit(dice) for _ in range(200)]
    said = [question.words for question in load_questions("insurance_fine", "dev")]
    times = []
    for n in range(rounds):
        words = said[n % len(said)]
        began = time.perf_counter_ns()
        pool.pick(context_query(queries[n % 200], queries[(n + 1) % 200]), 3, 0.0, words=words)
        times.append((time.perf_counter_ns() - began) / 1000.0)
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))


def wrong_context(library: Library, embed: Embed, seed: int = 0) -> Share:
    """Small talk and goodbyes that would be answered with a passage: its cosine reaches the responder's own floor."""
    lines = list(_talk())
    said = embed(lines)
    dice = np.random.default_rng(seed)
    hits = 0
    for words, vector in zip(lines, said, strict=True):
        pool = Pool(CAP)
        for row in dice.integers(0, len(library.documents), CAP).tolist():
            pool.add(item_of(library, row))
        picks = pool.pick(vector, 3, words=words)
        hits += bool(picks) and picks[0].cosine >= FIT_COSINE
    return Share(hits, len(said))


def _talk() -> Iterator[str]:
    for path in sorted(CLASSIFY.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            row = orjson.loads(line)
            if row["reference_outputs"]["state"] in TALK:
                yield row["inputs"]["utterance"]


def _random_unit(dice: np.random.Generator) -> Vectors:
    vector = dice.standard_normal(384).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)
