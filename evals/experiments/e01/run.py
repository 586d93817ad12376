"""E1: how often a forecast at least k agent turns old had brought what a turn needed, and the seconds that hid."""

from collections.abc import Sequence
from typing import Any

from evals.calls.measures import hidden, hit_at
from evals.experiments.shared import compared
from evals.experiments.shared.compared import by_procedure, call_rows, of, policies_in, share, worst
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Options, Plot, Row, Section, Series, Unit

OFFSETS = (1, 2, 3)


def units(options: Options) -> list[Unit]:
    return compared.units(options)


async def play(unit: Unit, tools: Tools) -> list[Row]:
    return await compared.play(unit, tools)


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        sop: {
            policy: {
                **{f"hit_at_{k}": hit_at(of(calls, policy), k) for k in OFFSETS},
                "hidden_s_per_call": round(hidden(calls, policy).hidden_s / max(1, len(of(calls, policy))), 2),
                "n": len(of(calls, policy)),
            }
            for policy in policies_in(calls)
        }
        for sop, calls in by_procedure(call_rows(rows)).items()
    }


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    found = {}
    for sop, calls in by_procedure(call_rows(rows)).items():
        leads = [lead for row in of(calls, "ours") for lead in row.hits]
        found[sop] = share(sum(lead >= 2 for lead in leads), len(leads))._replace(n=len(of(calls, "ours")))
    return {"hit_at_2_worst": worst(found)}


def sections(rows: Sequence[Row]) -> list[Section]:
    found = figures(rows)
    table = [
        [sop, policy, *(_rate(one[f"hit_at_{k}"]) for k in OFFSETS), one["hit_at_1"]["n"], one["hidden_s_per_call"],
         one["n"]]
        for sop, policies in found.items()
        for policy, one in policies.items()
    ]  # fmt: skip
    names = list(found)
    plot = Plot(
        "Needs found ready from a forecast at least k turns old (simulated, 95 % intervals)",
        "procedure", "% of needs", names,
        [
            Series(
                f"+{k}",
                [100 * (found[sop]["ours"][f"hit_at_{k}"]["rate"] or 0.0) for sop in names],
                [100 * found[sop]["ours"][f"hit_at_{k}"]["ci95"][0] for sop in names],
                [100 * found[sop]["ours"][f"hit_at_{k}"]["ci95"][1] for sop in names],
            )
            for k in OFFSETS
        ],
    )  # fmt: skip
    text = (
        "A need counts at +k when it was found ready and the fetch that brought it was asked for by a forecast at "
        "least k agent turns before. Needs that were ready because of unfinished words do not count."
    )
    columns = ("procedure", "policy", "+1", "+2", "+3", "needs", "hidden s a call", "calls")
    return [Section("Hits", text, columns, table, plot)]


def _rate(one: dict[str, Any]) -> str:
    low, high = one["ci95"]
    return "-" if one["rate"] is None else f"{100 * one['rate']:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


EXPERIMENT = Experiment("E1", units, play, measures, figures, sections)
