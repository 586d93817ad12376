"""The figures of `bench predict` as a table for people."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from evals.real.bench import PREDICTORS
from evals.real.scoring import OFFSETS


def table(result: Mapping[str, Any]) -> Table:
    """One row per predictor: top-1/top-3 and the source at each offset."""
    title = f"Next agent turn, before the user speaks ({result['who']}; n_test={result['n_test']} calls)"
    out = Table("predictor", *(f"+{k} top1/top3 | source" for k in OFFSETS), "us", title=title)
    for name in PREDICTORS:
        cells = [_cell(result[f"+{k}"][name]) for k in OFFSETS]
        us = result["+1"][name]["us_per_prediction"]
        out.add_row(name, *cells, "-" if us is None else f"{us:.0f}")
    for over in ("shrinkage", "counts"):
        gain = result[f"mixture_minus_{over}"]
        out.add_row(f"mixture - {over}", *(_gain(gain[f"+{k}"]) for k in OFFSETS), "")
    return out


def _cell(row: Mapping[str, Any]) -> str:
    if row["top1"] is None:
        return "-"
    source = "-" if row["source_hit1"] is None else f"{row['source_hit1']:.1f}"
    return f"{row['top1']:.1f}/{row['top3']:.1f} | {source}"


def _gain(row: Mapping[str, Mapping[str, float]]) -> str:
    parts = [f"{row[k]['difference']:+.1f} [{row[k]['low']:.1f}, {row[k]['high']:.1f}]" for k in ("top1", "top3")]
    return " / ".join(parts)
