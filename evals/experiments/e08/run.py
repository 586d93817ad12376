"""E8: regret in seconds, beside the naive rules, nonsense and an oracle, and what a price on fetches does to it."""

from collections.abc import Sequence
from typing import Any

from cuecard.ledger import percentile
from evals.calls.measures import Row as CallRow
from evals.calls.measures import hidden, hidden_interval
from evals.experiments.shared import compared
from evals.experiments.shared.compared import by_procedure, call_rows, figures_of, mean, of, policies_in, worst
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Options, Plot, Row, Section, Series, Unit

PRICES_S = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Seconds of stall that a fetch must be worth; the rows of the other policies are at the settings' own price."""
PRICED = 8
"""One caller in so many is also played at each price."""


def units(options: Options) -> list[Unit]:
    found = compared.units(options)
    per_seed = PRICED * len(options.procedures)
    return [{**unit, "priced": n % per_seed < len(options.procedures)} for n, unit in enumerate(found)]


async def play(unit: Unit, tools: Tools) -> list[Row]:
    rows = await compared.play(unit, tools)
    if unit["priced"] and not tools.options.quick:
        for price_s in PRICES_S:
            played = await tools.calls(unit["sop"], unit["seed"], ("ours",), price_s=price_s)
            rows += [{**compared.kept(row), "price_s": price_s} for row in played if row.policy == "ours"]
    return rows


def _plain(rows: Sequence[Row]) -> list[CallRow]:
    return call_rows([row for row in rows if "price_s" not in row])


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        sop: {policy: figures_of(calls, policy) for policy in policies_in(calls)}
        for sop, calls in by_procedure(_plain(rows)).items()
    }


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    shares: dict[str, Measure] = {}
    waste: dict[str, Measure] = {}
    for sop, calls in by_procedure(_plain(rows)).items():
        pct = hidden(calls, "ours").pct
        shares[sop] = Measure(
            None if pct is None else float(pct), *hidden_interval(calls, "ours"), len(of(calls, "ours"))
        )
        waste[sop] = mean([float(row.wasted) for row in of(calls, "ours")])
    return {"hidden_pct_worst": worst(shares), "wasted_worst": worst(waste, highest=True)}


def sections(rows: Sequence[Row]) -> list[Section]:
    found = figures(rows)
    table = [
        [sop, policy, _pct(one), one["regret_s"], one["stall_s_per_call"], one["p95_turn_stall_s"], one["fetches"],
         f"{one['wasted']} ({one['wasted_ci95'][0]} to {one['wasted_ci95'][1]})",
         f"{one['not_ready']} of {one['needs']}", one["n"]]
        for sop, policies in found.items()
        for policy, one in policies.items()
    ]  # fmt: skip
    order = [name for name in compared.ORDER if name != "none" and all(name in one for one in found.values())]
    plot = Plot(
        "Waiting hidden, of what an oracle would hide (simulated, 95 % intervals)",
        "policy", "% of hideable seconds", order,
        [
            Series(
                sop,
                [float(one[name]["hidden_pct"] or 0) for name in order],
                [one[name]["hidden_pct_ci95"][0] for name in order],
                [one[name]["hidden_pct_ci95"][1] for name in order],
            )
            for sop, one in found.items()
        ],
    )  # fmt: skip
    return [
        Section(
            "Policies",
            "Regret, stall and fetches are means a call. The worst turn is the 95th percentile over calls of each "
            "call's longest wait. Misses are counted and, as regret, in seconds.",
            ("procedure", "policy", "hidden % (95 %)", "regret s", "stall s", "worst turn p95 s", "fetches",
             "wasted (95 %)", "not ready", "calls"),
            table,
            plot,
        ),
        *_prices(rows),
    ]  # fmt: skip


def _pct(one: dict[str, Any]) -> str:
    low, high = one["hidden_pct_ci95"]
    return f"{one['hidden_pct']} ({low:.0f} to {high:.0f})"


def _prices(rows: Sequence[Row]) -> list[Section]:
    """Hidden seconds and waste of the same calls as fetches get dearer."""
    priced = [row for row in rows if "price_s" in row]
    if not priced:
        return []
    same = {row["unit"] for row in priced}
    base = call_rows([row for row in rows if row["unit"] in same and "price_s" not in row])
    prices = sorted({row["price_s"] for row in priced})
    lines, table = [], []
    for price_s in prices:
        ours = call_rows([row for row in priced if row["price_s"] == price_s])
        calls = [row for row in base if row.policy != "ours"] + ours
        # Two procedures may share a seed: sums need no pairing.
        pct, wasted = hidden(calls, "ours").pct, mean([float(row.wasted) for row in ours])
        table.append([price_s, pct, wasted.value, f"{wasted.low} to {wasted.high}",
                      round(percentile([row.stall_s for row in ours], 50), 2), len(ours)])  # fmt: skip
        lines.append((float(pct or 0), float(wasted.value or 0.0)))
    plot = Plot(
        "What a price on fetches does (simulated)",
        "price, seconds of stall a fetch must save", "% hidden; fetches wasted a call",
        prices, [Series("hidden, %", [a for a, _ in lines]), Series("wasted a call", [b for _, b in lines])], "lines",
    )  # fmt: skip
    columns = ("price s", "hidden %", "wasted a call", "95 %", "median stall s", "calls")
    return [Section("Price curve", "The same calls, of all procedures together.", columns, table, plot)]


EXPERIMENT = Experiment("E8", units, play, measures, figures, sections)
