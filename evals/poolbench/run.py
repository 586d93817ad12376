"""The protocol: a predictor of known recall guesses, its guesses are fetched, the live words pick three of the pool.

Before each question a predictor of recall r makes a few guesses, one of them the title of the question's document with
probability r, the others random titles. Each guess fetches three documents; a missed question's three live ones join.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cuecard.pool import CAP, Item, Pool, context_query
from evals.poolbench.corpora import Library

RECALLS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
TURNS = 10
"""Questions in one call; the pool starts empty in each."""


@dataclass(frozen=True)
class Tricks:
    """What the pool does beside plain cosine; each can be left out to see what it brings."""

    context: bool = True
    """A little of the turn before in the query."""
    bonus: bool = True
    """A bonus for what this turn's forecast asked for."""
    pieces: bool = True
    """Documents are ranked by their best sentence too."""
    words: bool = True
    """Words that question and document share count."""
    guesses: int = 2
    """Few and likely: five a turn turn the pool over before their moment comes (docs/decisions/0142)."""
    fetched: int = 3
    conversation: bool = True
    """Where the conversation before a question is known, its turns were searched for too; else calls are put together
    from unrelated questions."""


DEFAULT = Tricks()


@dataclass(frozen=True)
class Share:
    """A rate with its count."""

    hits: int
    n: int

    @property
    def rate(self) -> float:
        return self.hits / max(1, self.n)

    def interval(self) -> tuple[float, float]:
        """95 % by Wilson."""
        n, p, z = max(1, self.n), self.rate, 1.96
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return middle - half, middle + half


def plain(library: Library) -> Share:
    """The right document among the three nearest to the words, over everything."""
    hits = [bool(gold & set(found)) for found, gold in zip(library.live, library.golds, strict=True)]
    return Share(sum(hits), len(hits))


def pooled(library: Library, recall: float, tricks: Tricks, seed: int = 0) -> Share:
    """The right document among three picks of the pool."""
    dice = np.random.default_rng(seed)
    hits = 0
    order = dice.permutation(len(library.golds))
    for n, question in enumerate(order.tolist()):
        if tricks.conversation and len(library.earlier):
            pool = _after_conversation(library, question, tricks, dice)
        elif n % TURNS == 0:
            pool = Pool(CAP)
        hits += _turn(library, pool, question, recall, tricks, dice)
    return Share(hits, len(order))


def _after_conversation(library: Library, question: int, tricks: Tricks, dice: np.random.Generator) -> Pool:
    """The pool as the turns before left it: what they searched for, among guesses that did not come true."""
    pool = Pool(CAP)
    for found in library.searched_earlier[question]:
        for guess in dice.integers(0, len(library.documents), tricks.guesses).tolist():
            for row in library.by_title[guess][: tricks.fetched]:
                pool.add(item_of(library, row, tricks))
        for row in found:
            pool.add(item_of(library, row, tricks))
    return pool


def _turn(
    library: Library, pool: Pool, question: int, recall: float, tricks: Tricks, dice: np.random.Generator
) -> bool:
    gold = library.golds[question]
    guesses = dice.integers(0, len(library.documents), tricks.guesses).tolist()
    if dice.random() < recall:
        guesses[0] = int(dice.choice(sorted(gold)))
    asked: dict[str, float] = {}
    for guess in guesses:
        for row in library.by_title[guess][: tricks.fetched]:
            item = item_of(library, row, tricks)
            pool.add(item)
            asked[item.id] = 1.0
    pool.asked_for(asked if tricks.bonus else {})
    words = library.questions[question]
    query = context_query(words, library.before[question] if tricks.context else None)
    picks = pool.pick(query, words=library.words[question] if tricks.words else "")
    for pick in picks:
        pool.touch(pick.item.id)
    if any(int(pick.item.data["row"]) in gold for pick in picks):
        return True
    for row in library.live[question]:
        pool.add(item_of(library, row, tricks))
    return False


def item_of(library: Library, row: int, tricks: Tricks = DEFAULT) -> Item:
    document, pieces = library.documents[row], library.pieces[row]
    return Item(
        document.id,
        "answers",
        document.text,
        data={"row": row},
        vector=library.vectors[row],
        pieces=pieces if tricks.pieces and len(pieces) else None,
        title=document.title,
    )


VARIANTS = {
    "without_context": Tricks(context=False),
    "without_bonus": Tricks(bonus=False),
    "without_either": Tricks(context=False, bonus=False),
    "without_pieces": Tricks(pieces=False),
    "without_words": Tricks(words=False),
    "without_pieces_and_words": Tricks(pieces=False, words=False),
    "without_conversation": Tricks(conversation=False),
    "five_guesses": Tricks(guesses=5),
    "five_guesses_without_either": Tricks(context=False, bonus=False, guesses=5),
}
"""Beside the default, to see what each trick brings."""
SEEDS = (0, 1)


def score(library: Library) -> dict[str, Any]:
    """Plain top three over everything, then the pool by recall, with every trick and without each."""
    base = plain(library)
    report: dict[str, Any] = {"documents": len(library.documents), "questions": base.n, **_shown("plain", base)}
    for recall in RECALLS:
        report |= _shown(f"{recall:g}", _over_seeds(library, recall, DEFAULT))
    report["times_plain"] = {f"{r:g}": round(report[f"{r:g}"] / max(base.rate, 1e-9), 2) for r in RECALLS}
    report["variants"] = {
        name: {f"{recall:g}": round(_over_seeds(library, recall, tricks).rate, 3) for recall in (0.5, 0.9)}
        for name, tricks in VARIANTS.items()
    }
    return report


def _over_seeds(library: Library, recall: float, tricks: Tricks) -> Share:
    shares = [pooled(library, recall, tricks, seed) for seed in SEEDS]
    return Share(sum(share.hits for share in shares), sum(share.n for share in shares))


def _shown(name: str, share: Share) -> dict[str, Any]:
    low, high = share.interval()
    return {name: round(share.rate, 3), f"{name}_ci95": [round(low, 3), round(high, 3)]}
