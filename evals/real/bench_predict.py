"""Which sessions teach and which test, and which model may be asked about them."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from rich.progress import Progress

from cuecard.predictors.learned import LearnedPredictor
from evals.real.bench import Prior, compare, report, several_procedures
from evals.real.embedded import with_embeddings
from evals.real.files import load_drawings, load_sessions, workshop
from evals.real.runs import Turns
from evals.real.sessions import DataError
from evals.real.splits import Split, at_random, by_time, in_time_order
from evals.real.training import Workshop, fingerprints, train_file
from evals.real.views import turn_views

SplitName = Literal["random", "time"]
Say = Callable[[str], None]


def run_bench(
    train: Path,
    test: Path | None,
    sops: Path | None,
    model: Path | None,
    split: SplitName,
    seed: int,
    bar: Progress | None,
    say: Say,
) -> dict[str, Any]:
    """The whole of `bench predict`, as the object it prints."""
    sessions = in_time_order(load_sessions(train, say))
    prior = load_drawings(sops)
    learned = LearnedPredictor(model, prior) if model is not None else None
    shop = _shop(prior, seed, bar) if learned is not None else None
    if test is not None:
        parts = Split(sessions, in_time_order(load_sessions(test, say)))
        n_seen = len(learned.card.sessions & fingerprints(parts.test)) if learned is not None else 0
        if n_seen:
            raise DataError(f"{model} was trained on {n_seen} sessions of {test}. Give a test it has not seen.")
        return {**_scored(parts, prior, learned, shop), "split": str(test)}
    splits = {"random": at_random(sessions, seed), "time": by_time(sessions)}
    ours, other = splits[split], splits["time" if split == "random" else "random"]
    with tempfile.TemporaryDirectory() as folder:
        if learned is not None and shop is not None and learned.card.sessions & fingerprints(ours.test):
            say(f"{model} has seen the held-out sessions: training one on the other four fifths, which takes minutes.")
            fresh = Path(folder) / "model.onnx"
            train_file(ours.train, fresh, shop)
            learned = LearnedPredictor(fresh, prior)
        main = _scored(ours, prior, learned, shop)
    unseen = learned if learned is not None and not learned.card.sessions & fingerprints(other.test) else None
    second = _scored(other, prior, unseen, shop)
    names = {"random": f"a random fifth, seed {seed}", "time": "the latest fifth by time"}
    return {**main, "split": names[split], "by_time" if split == "random" else "by_random": second}


def _shop(prior: Prior, seed: int, bar: Progress | None) -> Workshop:
    from cuecard.predictors.training.fit import Plan

    return workshop(prior, Plan(), seed, bar)


def _scored(parts: Split, prior: Prior, learned: LearnedPredictor | None, shop: Workshop | None) -> dict[str, Any]:
    test = [turn_views(session) for session in parts.test]
    if learned is not None and shop is not None:
        test = _with_words(test, shop)
    train = [turn_views(session) for session in parts.train]
    return report(compare(train, test, several_procedures(parts.test), prior, learned))


def _with_words(turns: Sequence[Turns], shop: Workshop) -> list[Turns]:
    return with_embeddings(turns, shop.embedder, shop.cache, lambda done, n: shop.advance("test sentences", done, n))
