"""E6: every predictor on the same held-out calls: action, data source, tokens and milliseconds, mood on and off."""

import random
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from cuecard.ledger import percentile
from cuecard.predictors.counts import HORIZON, MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.garbage import GarbagePredictor
from cuecard.predictors.imagined_caller import SampledCaller
from cuecard.predictors.mcts import MCTSPredictor
from cuecard.predictors.types import Forecast, Predictor, SessionView
from evals.experiments.answers import Answers
from evals.experiments.shared.recorded import OFFSETS, Call, call_of, fitted, history, prior_of, units
from evals.experiments.shared.scores import lead, rank, shown, top
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Plot, Row, Section, Series, Unit
from evals.real.baselines import ExactCounts
from sops.loader import load_procedure

NO_MOOD = ("empirical_no_mood", "mcts_no_mood")
"""Told neither cohort nor mood."""
NAIVE = ("last_step", "graph", "garbage")


@lru_cache(maxsize=4)
def _counts(sop: str) -> MemoryCounts:
    return fitted(history(sop))


def predictors(sop: str, seed: int, tools: Tools) -> dict[str, Predictor]:
    """Fresh for each call, so that a call's figures do not hang on the calls before it."""
    counts = _counts(sop)
    found: dict[str, Predictor] = {
        "empirical": EmpiricalPredictor(counts, prior_of),
        "empirical_no_mood": EmpiricalPredictor(counts, prior_of),
        "last_step": ExactCounts(counts, ("last", "sop"), "last_step"),
        "graph": EmpiricalPredictor(MemoryCounts(), prior_of),
        "mcts": MCTSPredictor(load_procedure, SampledCaller, random.Random(seed)),
        "mcts_no_mood": MCTSPredictor(load_procedure, SampledCaller, random.Random(seed)),
        "garbage": GarbagePredictor(load_procedure, random.Random(seed)),
    }
    if tools.answers is not None:
        found["llm"] = _Kept(tools.answers)
    return found


class _Kept:
    """The chat model's forecasts, asked for once and shared with the other experiments that need them."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        return await self._answers.forecast(view, horizon)


async def play(unit: Unit, tools: Tools) -> list[Row]:
    call = call_of(unit)
    return [
        {"predictor": name, "sop": call.sop, "seed": call.seed, **await _scored(name, predictor, call)}
        for name, predictor in predictors(call.sop, call.seed, tools).items()
    ]


async def _scored(name: str, predictor: Predictor, call: Call) -> dict[str, Any]:
    row: dict[str, Any] = {f"a{k}": [] for k in OFFSETS} | {f"s{k}": [] for k in OFFSETS}
    took_ms, tokens = [], 0
    for index in range(len(call.views) - 1):
        began_s = time.perf_counter()
        forecast = await predictor.predict(call.view(index, mood=name not in NO_MOOD), HORIZON)
        # A kept answer of a model took what it took when it was asked for.
        took_ms.append(round(forecast.ms if name == "llm" else 1000.0 * (time.perf_counter() - began_s), 2))
        tokens += forecast.tokens
        for k in OFFSETS:
            if index + k < len(call.views):
                truth = call.views[index + k]
                actions = forecast.actions[k - 1] if len(forecast.actions) >= k else {}
                row[f"a{k}"].append(rank(actions, truth.action))
                if truth.source:
                    named = forecast.sources[k - 1] if len(forecast.sources) >= k else {}
                    row[f"s{k}"].append(rank({name: p for name, p in named.items() if name}, truth.source))
    return {**row, "ms": took_ms, "tokens": tokens}


def _by(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["predictor"], []).append(row)
    return found


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    out = {}
    for name, own in _by(rows).items():
        ms = [value for row in own for value in row["ms"]]
        turns = max(1, len(ms))
        out[name] = {
            **{f"top{t}_at_{k}": top(own, f"a{k}", t)._asdict() for k in OFFSETS for t in (1, 3)},
            **{f"source_at_{k}": top(own, f"s{k}", 1)._asdict() for k in OFFSETS},
            "tokens_per_turn": round(sum(row["tokens"] for row in own) / turns, 1),
            "ms_p50": round(percentile(ms, 50), 2),
            "ms_p95": round(percentile(ms, 95), 2),
        }
    return out


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    by = _by(rows)
    return {
        "lead_over_last_step": lead(by.get("empirical", []), by.get("last_step", []), "a1", 1),
        "lead_over_garbage": lead(by.get("empirical", []), by.get("garbage", []), "a1", 1),
    }


def sections(rows: Sequence[Row]) -> list[Section]:
    by, found = _by(rows), figures(rows)
    table = [
        [name, *(shown(top(own, f"a{k}", t)) for k in OFFSETS for t in (1, 3)), shown(top(own, "s1", 1)),
         found[name]["tokens_per_turn"], found[name]["ms_p50"], found[name]["ms_p95"], top(own, "a1", 1).n]
        for name, own in by.items()
    ]  # fmt: skip
    if "llm" not in by:
        table.append(["llm", "not run: no model", *["-"] * 10])
    turns = top(next(iter(by.values())), "a1", 1).n
    table.append(["oracle", *["100"] * 7, "0", "0", "0", turns])
    plot = Plot(
        "The next action, named first (simulated, 95 % intervals)", "agent turns ahead", "% of turns",
        [f"+{k}" for k in OFFSETS],
        [
            Series(
                name,
                [top(own, f"a{k}", 1).value or 0.0 for k in OFFSETS],
                [top(own, f"a{k}", 1).low for k in OFFSETS],
                [top(own, f"a{k}", 1).high for k in OFFSETS],
            )
            for name, own in by.items()
        ],
    )  # fmt: skip
    text = (
        "The oracle is right by definition and stands there for scale. Counts were made from earlier calls of the same "
        "procedure; `no_mood` was told neither cohort nor mood. MCTS had its sampled caller, which costs no tokens. "
        "The milliseconds are this machine's, wall time."
    )
    columns = ("predictor", "+1 first", "+1 in 3", "+2 first", "+2 in 3", "+3 first", "+3 in 3", "source +1",
               "tokens a turn", "ms p50", "ms p95", "turns")  # fmt: skip
    return [Section("Predictors", text, columns, table, plot)]


EXPERIMENT = Experiment("E6", units, play, measures, figures, sections, parallel=False)
