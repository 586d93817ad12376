"""MultiDoGO: what a customer does next, turns on which it stays and on which it changes apart."""

from pathlib import Path
from typing import Any

from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.types import Predictor
from evals.experiments.shared.scores import rank
from evals.experiments.types import Row
from evals.real.files import load_sessions
from evals.real.runs import Turns, fit
from evals.real.states import Inertia, parts, state_turns
from evals.real.views import view_at

QUICK_SESSIONS = 1500
DIGITS = 4


async def play_states(path: Path, quick: bool) -> list[Row]:
    """A row a held-out session and predictor: the set's own dev part, predicted from its train part."""
    sessions = load_sessions(path, lambda line: None)
    split = parts(sessions[:: max(1, len(sessions) // QUICK_SESSIONS)] if quick else sessions, None)
    counted = fit([state_turns(one) for one in split.train], half_life_sessions=None)
    predictors: dict[str, Predictor] = {
        "inertia": Inertia(),
        "shrinkage": EmpiricalPredictor(counted.plain, lambda _: None),
        "account_key": counted.account,
    }
    rows = []
    for number, session in enumerate(split.test):
        turns = state_turns(session)
        if len(turns) > 1:
            rows += [await _row(name, one, number, turns) for name, one in predictors.items()]
    return rows


async def _row(name: str, predictor: Predictor, number: int, turns: Turns) -> Row:
    row: dict[str, Any] = {"kind": "multidogo", "predictor": name, "session": number}
    row |= {"stable": [], "moved": [], "p_change": [], "changed": []}
    for index in range(len(turns) - 1):
        forecast = await predictor.predict(view_at(turns, index), 1)
        p = forecast.actions[0] if forecast.actions else {}
        now, then = turns[index].action, turns[index + 1].action
        row["stable" if now == then else "moved"].append(rank(p, then))
        row["p_change"].append(round(1.0 - p.get(now, 0.0), DIGITS))
        row["changed"].append(now != then)
    return row
