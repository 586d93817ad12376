"""From recorded sessions to a model file that has earned its place."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cuecard.models.embeddings import Embedder
from cuecard.predictors.graph import GraphPrior
from cuecard.predictors.learned import LearnedPredictor, ModelCard
from cuecard.predictors.training.export import write_onnx
from cuecard.predictors.training.fit import Plan, Trained, train
from cuecard.predictors.training.shares import Fitted, fit_shares
from cuecard.predictors.types import Predictor
from evals.real.embedded import with_embeddings
from evals.real.runs import Turns, run_all
from evals.real.scoring import OFFSETS, P_FLOOR
from evals.real.sessions import DataError, Session
from evals.real.splits import by_time
from evals.real.views import turn_views

JUDGE_SHARE = 0.1
"""Latest share of the sessions on which a new model has to beat the old one."""
FEWEST_SESSIONS = 50

Prior = Callable[[str], GraphPrior | None]
Advance = Callable[[str, int, int], None]
"""What is being done, how much of it is done, how much there is."""


@dataclass(frozen=True, slots=True)
class Outcome:
    train_s: float
    n_sessions: int
    took_over: bool
    """False: the old model was at least as good on later calls, and was kept."""
    old_log_loss: float | None = None
    new_log_loss: float | None = None


@dataclass(frozen=True, slots=True)
class Workshop:
    """What training needs besides sessions."""

    embedder: Embedder
    cache: Path | None
    prior: Prior
    plan: Plan
    seed: int = 0
    views: Callable[[Session], Turns] = turn_views
    """How a session is read."""
    words_only: bool = False
    """Train without sentence embeddings: minutes faster, some accuracy less."""
    advance: Advance = lambda what, done, total: None


def train_file(sessions: Sequence[Session], out: Path, shop: Workshop) -> Outcome:
    """Train on `sessions` (in time order) and write `out`, unless a model is there already that later calls prefer."""
    started = time.perf_counter()
    if len(sessions) < FEWEST_SESSIONS:
        raise DataError(f"{len(sessions)} sessions are too few to learn from: {FEWEST_SESSIONS} at least.")
    old_loss = new_loss = None
    if out.is_file():
        old = LearnedPredictor(out, shop.prior)
        earlier, later = by_time(sessions, JUDGE_SHARE)
        candidate = out.with_name(out.name + ".candidate")
        try:
            _write(earlier, candidate, shop)
            judges = _embedded(later, shop)
            old_loss, new_loss = log_loss(old, judges), log_loss(LearnedPredictor(candidate, shop.prior), judges)
        finally:
            candidate.unlink(missing_ok=True)
        if new_loss >= old_loss:
            return Outcome(_since(started), len(sessions), False, old_loss, new_loss)
    _write(sessions, out, shop)
    return Outcome(_since(started), len(sessions), True, old_loss, new_loss)


def log_loss(predictor: Predictor, sessions: Sequence[Turns]) -> float:
    """Of the agent's next actions, over all offsets; silence counts as the floor."""
    run = run_all({"": predictor}, sessions)[""]
    p_true = [hit.p_true for offset in OFFSETS for hit in run.tallies[offset].actions]
    return round(float(-np.log(np.maximum(p_true, P_FLOOR)).mean()), 4)


def fingerprints(sessions: Iterable[Session]) -> frozenset[str]:
    """Short digests of session names: enough to notice a test on training data, and no names."""
    return frozenset(hashlib.sha256(session.session_id.encode()).hexdigest()[:12] for session in sessions)


def _write(sessions: Sequence[Session], out: Path, shop: Workshop) -> None:
    turns = _embedded(sessions, shop)
    trained = train(turns, shop.plan, shop.seed, shop.prior, lambda done, total: shop.advance("members", done, total))
    fitted = asyncio.run(fit_shares(trained, turns, shop.prior))
    write_onnx(trained, _card(trained, turns, sessions, fitted), out)


def _card(
    trained: Trained,
    turns: Sequence[Turns],
    sessions: Sequence[Session],
    fitted: Fitted,
) -> ModelCard:
    return ModelCard(
        marks=trained.names.marks,
        labels=trained.names.labels,
        sops=frozenset(turn.sop for call in turns for turn in call),
        shares=fitted.shares,
        powers=fitted.powers,
        sessions=fingerprints(sessions),
    )


def _embedded(sessions: Sequence[Session], shop: Workshop) -> list[Turns]:
    views = [shop.views(session) for session in sessions]
    if shop.words_only:
        return views
    return with_embeddings(views, shop.embedder, shop.cache, lambda done, total: shop.advance("sentences", done, total))


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 1)
