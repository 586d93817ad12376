"""E12: the default configuration end to end, and what happens when imagined caller sentences are kept from fetching."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cuecard.ledger import percentile
from cuecard.predictors.imagined_caller import SampledCaller
from cuecard.predictors.mcts import MCTSPredictor
from cuecard.predictors.types import Forecast, Predictor, SessionView
from evals.calls.measures import Row as CallRow
from evals.experiments.shared import compared
from evals.experiments.shared.compared import call_rows, of, ratio, share
from evals.experiments.shared.scores import shown
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Options, Plot, Row, Section, Series, Unit
from sops.loader import load_procedure

FED, CUT = "fed", "cut"
ROLES = ("none", "ours", FED, CUT, "oracle")
_SAMPLES = 500


class Silenced:
    """Another predictor's forecast without its sentences: what the prefetcher knows when the feed is cut."""

    def __init__(self, inner: Predictor) -> None:
        self._inner = inner

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        return replace(await self._inner.predict(view, horizon), utterances=())


def units(options: Options) -> list[Unit]:
    return compared.units(options)


async def play(unit: Unit, tools: Tools) -> list[Row]:
    sop, seed = unit["sop"], unit["seed"]
    rows = [row for row in await compared.play(unit, tools) if row["policy"] in ROLES]
    for role in (FED, CUT):
        search = MCTSPredictor(load_procedure, SampledCaller, random.Random(seed))
        await tools.predict_with(role, sop, search if role == FED else Silenced(search))
    played = await tools.calls(sop, seed, (FED, CUT))
    return rows + [compared.kept(row) for row in played if row.policy in {FED, CUT}]


def live_share(rows: Sequence[CallRow]) -> Measure:
    """Needs that were fetched while the caller waited, in percent of all that are not writes."""
    pairs = [
        (float(row.needs.get("live", 0)), float(sum(n for how, n in row.needs.items() if how != "write")))
        for row in rows
    ]
    return ratio(pairs, 100.0)._replace(n=int(sum(below for _, below in pairs)))


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    ours = of(call_rows(rows), "ours")
    if not ours:
        return {}
    n = len(ours)
    ms = [value for row in ours for value in row.overhead_ms]
    spread = [percentile(random.Random(k).choices(ms, k=len(ms)), 95) for k in range(_SAMPLES)] if ms else [0.0]
    low, high = percentile(spread, 2.5), percentile(spread, 97.5)
    return {
        "live_fallback_pct": live_share(ours)._replace(n=n),
        "success_rate": share(sum(row.outcome == "success" for row in ours), n),
        "turn_cap_rate": share(sum(row.capped for row in ours), n),
        "overhead_p95_ms": Measure(round(percentile(ms, 95), 1), round(low, 1), round(high, 1), len(ms)),
    }


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    calls = call_rows(rows)
    return {
        **{name: one._asdict() for name, one in measures(rows).items()},
        "live_fallback_pct_by_feed": {role: live_share(of(calls, role))._asdict() for role in ROLES},
        "stall_s_per_call": {role: _stall(of(calls, role)) for role in ROLES},
    }


def _stall(rows: Sequence[CallRow]) -> float:
    return round(sum(row.stall_s for row in rows) / max(1, len(rows)), 3)


def sections(rows: Sequence[Row]) -> list[Section]:
    calls, found = call_rows(rows), measures(rows)
    table = [
        [role, shown(live_share(of(calls, role)), " %"), _stall(of(calls, role)),
         round(sum(row.fetches for row in of(calls, role)) / max(1, len(of(calls, role))), 2),
         round(sum(row.wasted for row in of(calls, role)) / max(1, len(of(calls, role))), 2), len(of(calls, role))]
        for role in ROLES
    ]  # fmt: skip
    shares = [live_share(of(calls, role)) for role in ROLES]
    plot = Plot(
        "Needs fetched while the caller waited (simulated, 95 % intervals)", "forecast", "% of needs", list(ROLES),
        [Series("live", [m.value or 0.0 for m in shares], [m.low for m in shares], [m.high for m in shares])],
    )  # fmt: skip
    end_to_end = [[name, shown(one), one.n] for name, one in found.items()]
    return [
        Section("End to end", "No tree search on the turn.", ("measure", "value (95 %)", "n"), end_to_end),
        Section(
            "The feed of imagined sentences",
            "`fed` forecasts by tree search in the background, whose imagined sentences send queries out; `cut` is "
            "the same search with the sentences withheld; `ours` is the default.",
            ("forecast", "fetched live", "stall s a call", "fetches", "wasted", "calls"),
            table,
            plot,
        ),
    ]


EXPERIMENT = Experiment("E12", units, play, measures, figures, sections)
