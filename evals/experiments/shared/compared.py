"""Calls under several policies as experiments keep them: what E1, E8 and E12 read, played once for all of them."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cuecard.ledger import percentile
from evals.calls.intervals import Interval, bootstrap_ratio, mean_interval, wilson
from evals.calls.measures import Row as CallRow
from evals.calls.measures import hidden, hidden_interval, right_document
from evals.experiments.tools import Tools
from evals.experiments.types import Measure, Options, Row, Unit

POLICIES = ("ours", "all_at_identity", "refresh_all", "partial_all", "garbage", "oracle")
"""Beside "none", which is always played: it speaks the words first."""
SHOWN = {"partial_all": "partial"}
"""Names of the reports where they differ from the bench's."""
ORDER = ("none", "all_at_identity", "refresh_all", "partial", "garbage", "ours", "oracle")
FULL, QUICK = 40, 2


def units(options: Options, full: int = FULL, quick: int = QUICK) -> list[Unit]:
    """One a caller, procedures side by side, so that an interrupted run has something of each."""
    return [
        {"key": f"{sop}/{seed:07d}", "sop": sop, "seed": seed}
        for seed in options.calls(full, quick)
        for sop in options.procedures
    ]


async def play(unit: Unit, tools: Tools) -> list[Row]:
    """A row a policy."""
    return [kept(row) for row in await tools.calls(unit["sop"], unit["seed"], POLICIES)]


def kept(row: CallRow) -> Row:
    """The row under the name that reports use, with as few digits as the figures need."""
    data = row.to_json()
    data["policy"] = SHOWN.get(row.policy, row.policy)
    data["stall_s"] = round(row.stall_s, 3)
    data["overhead_ms"] = row.overhead_ms if row.policy == "ours" else []
    data["tiers"] = {tier: round(share, 3) for tier, share in row.tiers.items()}
    return data


def call_rows(rows: Sequence[Row]) -> list[CallRow]:
    names = CallRow.__dataclass_fields__
    # A row kept by an older version lacks what was added since.
    return [CallRow(**{name: row[name] for name in names if name in row}) for row in rows if row.get("policy")]


def by_procedure(rows: Sequence[CallRow]) -> dict[str, list[CallRow]]:
    found: dict[str, list[CallRow]] = {}
    for row in rows:
        found.setdefault(row.sop, []).append(row)
    return dict(sorted(found.items()))


def policies_in(rows: Sequence[CallRow]) -> list[str]:
    there = {row.policy for row in rows}
    return [name for name in ORDER if name in there]


def of(rows: Sequence[CallRow], policy: str) -> list[CallRow]:
    return [row for row in rows if row.policy == policy]


def figures_of(rows: Sequence[CallRow], policy: str) -> dict[str, Any]:
    """The books of one policy over the calls of one procedure; fetches and wasted are means a call."""
    own = of(rows, policy)
    saved = hidden(rows, policy)
    n = len(own)
    needs = Counter[str]()
    for row in own:
        needs.update(row.needs)
    low, high = (0.0, 0.0) if policy == "none" else hidden_interval(rows, policy)
    return {
        "hidden_pct": 0 if policy == "none" else saved.pct,
        "regret_s": round(saved.regret_s / n, 3),
        "stall_s_per_call": round(sum(row.stall_s for row in own) / n, 3),
        "p95_turn_stall_s": round(percentile([max(row.turn_stall_s, default=0.0) for row in own], 95), 3),
        "fetches": round(sum(row.fetches for row in own) / n, 2),
        "wasted": round(sum(row.wasted for row in own) / n, 2),
        "live": round(sum(row.live for row in own) / n, 2),
        "right_document": right_document(own),
        "not_ready": sum(needs[how] for how in ("joined", "live", "missing")),
        "needs": sum(count for how, count in needs.items() if how != "write"),
        "hideable_s_per_call": round(saved.hideable_s / n, 3),
        "n": n,
        "hidden_pct_ci95": [low, high],
        "wasted_ci95": list(mean_interval([float(row.wasted) for row in own])),
    }


def share(hits: int, n: int) -> Measure:
    low, high = wilson(hits, n)
    return Measure(round(hits / n, 4) if n else None, low, high, n)


def mean(values: Sequence[float]) -> Measure:
    if not values:
        return Measure(None, math.nan, math.nan, 0)
    low, high = mean_interval(values)
    return Measure(round(sum(values) / len(values), 3), low, high, len(values))


def ratio(pairs: Sequence[tuple[float, float]], scale: float = 1.0) -> Measure:
    """sum / sum over calls, which are resampled."""
    below = sum(second for _, second in pairs)
    interval: Interval = bootstrap_ratio(pairs, scale=scale)
    value = round(scale * sum(first for first, _ in pairs) / below, 4) if below else None
    return Measure(value, interval.low, interval.high, len(pairs))


def worst(found: Mapping[str, Measure], *, highest: bool = False) -> Measure:
    """The least good of several measures: a claim holds where it holds worst."""
    known = [one for one in found.values() if one.value is not None]
    if not known:
        return Measure(None, math.nan, math.nan, 0)
    return (max if highest else min)(known, key=lambda one: one.value or 0.0)
