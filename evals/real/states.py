"""`bench state`: what the caller does next, on sets that label it turn by turn (MultiDoGO).

These sets have no agent actions, so a caller's states stand where actions stand elsewhere: contexts look at the last
three states, and the forecast's actions are states. Affective states are inertia; content states change nearly every
turn. So stable turns and transitions are scored apart, and accuracy alone is never shown.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.learned import LearnedPredictor
from cuecard.predictors.mixture import MixturePredictor
from cuecard.predictors.types import Forecast, Predictor, SessionView, TurnView
from evals.real.bench import WHO
from evals.real.runs import Turns, fit
from evals.real.sessions import DataError, Session
from evals.real.views import view_at

CHANGE_AT = 0.5
"""Above this P(change) a transition counts as announced."""


class Parts(NamedTuple):
    train: list[Session]
    test: list[Session]
    how: str


def parts(sessions: Sequence[Session], test: Sequence[Session] | None) -> Parts:
    """The set's own split: train against test where there is one, else against dev."""
    train = [session for session in sessions if session.split == "train"]
    if test is not None:
        return Parts(train or list(sessions), list(test), "train against the given test part")
    for name in ("test", "dev"):
        held_out = [session for session in sessions if session.split == name]
        if held_out and train:
            return Parts(train, held_out, f"train against {name}")
    raise DataError("The sessions name no split: each needs `split`: train, dev or test (or give --test).")


def state_turns(session: Session) -> Turns:
    """One TurnView per labelled utterance: the state as the action, the slots heard as what the turn brought."""
    sop = session.sop[0] if session.sop else ""
    return tuple(
        TurnView(
            utterance=turn.text,
            state="",
            action=turn.state[0],
            sop=sop,
            fetched=tuple(f"in {sop}.{slot}" for slot in turn.slots),
        )
        for turn in session.turns
        if turn.speaker == "user" and turn.state
    )


class Inertia:
    """Things stay as they are."""

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        return Forecast(actions=({view.turns[-1].action: 1.0},), by="inertia")


def compare_states(train: Sequence[Turns], test: Sequence[Turns], model: Path | None) -> dict[str, Any]:
    """Inertia, counts and, with a model, learned and mixture, on the same turns."""
    fitted = fit(train, half_life_sessions=None)
    counts = EmpiricalPredictor(fitted.plain, lambda _: None)
    predictors: dict[str, Predictor] = {"inertia": Inertia(), "counts": counts}
    if model is not None:
        learned = LearnedPredictor(model)
        predictors |= {"learned": learned, "mixture": MixturePredictor(counts, learned)}
    return {name: asyncio.run(_score(predictor, test)) for name, predictor in predictors.items()}


async def _score(predictor: Predictor, test: Sequence[Turns]) -> dict[str, Any]:
    top, top3, change, p_change = [], [], [], []
    started = time.perf_counter()
    for turns in test:
        for index in range(len(turns) - 1):
            forecast = await predictor.predict(view_at(turns, index), 1)
            p = forecast.actions[0]
            best = sorted(p, key=lambda name: (-p[name], name))[:3]
            now, then = turns[index].action, turns[index + 1].action
            top.append(best[:1] == [then])
            top3.append(then in best)
            change.append(now != then)
            p_change.append(1.0 - p.get(now, 0.0))
    spent = time.perf_counter() - started
    return measures_of_change(np.array(top), np.array(top3), np.array(change), np.array(p_change)) | {
        "us_per_prediction": round(spent / max(1, len(top)) * 1e6, 1)
    }


def measures_of_change(top: Any, top3: Any, change: Any, p_change: Any) -> dict[str, Any]:
    """Accuracy on stable turns and transitions apart; how many transitions were announced; AUC of P(change)."""

    def percent(values: Any) -> float | None:
        return round(float(values.mean()) * 100.0, 2) if len(values) else None

    return {
        "stable": percent(top[~change]),
        "transition": percent(top[change]),
        "transition_recall": percent(p_change[change] > CHANGE_AT),
        "false_alarms": percent(p_change[~change] > CHANGE_AT),
        "auc_change": auc(p_change, change),
        "top1": percent(top),
        "top3": percent(top3),
        "n": len(top),
        "n_transitions": int(change.sum()),
    }


def auc(score: Any, truth: Any) -> float | None:
    """P(a random true case scores above a random false one), ties counting half."""
    n_true, n_false = int(truth.sum()), int((~truth).sum())
    if not n_true or not n_false:
        return None
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse]
    return round(float((ranks[truth].sum() - n_true * (n_true + 1) / 2.0) / (n_true * n_false)), 4)


def bench_states(split: Parts, model: Path | None) -> dict[str, Any]:
    """The object `bench state` prints."""
    train = [state_turns(session) for session in split.train]
    test = [state_turns(session) for session in split.test]
    scored = compare_states(train, test, model)
    return {**scored, "split": split.how, "n_train": len(train), "n_test": len(test), "who": WHO}
