"""The product's predictor in one call: graph and counts, a trained model if there is one, a slow guesser if wanted."""

import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from cuecard.predictors.counts import CountSource
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.graph import GraphPrior
from cuecard.predictors.learned import LearnedPredictor
from cuecard.predictors.mixture import MixturePredictor
from cuecard.predictors.types import Predictor


def assemble(
    counts: CountSource,
    prior: Callable[[str], GraphPrior | None],
    *,
    model: Path | None = None,
    cold: Predictor | None = None,
    thompson: random.Random | None = None,
) -> MixturePredictor:
    """`model` is a file of `cuecard train` (loaded once a process; ModelFileError when it cannot be used).

    `cold` (language model, tree search) is asked while counts are thin.
    """
    learned = None
    if model is not None:
        learned = _load(model, model.stat().st_mtime_ns if model.is_file() else 0).beside(prior)
    return MixturePredictor(EmpiricalPredictor(counts, prior, thompson=thompson), learned, cold)


@lru_cache(maxsize=4)
def _load(path: Path, _mtime_ns: int) -> LearnedPredictor:
    """By modification time, so that a model that has taken over is read at the next start of a session's predictor."""
    return LearnedPredictor(path)
