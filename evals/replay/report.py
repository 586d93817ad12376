"""A replay as a page: the table, the picture and the recommendation."""

from html import escape
from pathlib import Path
from typing import Any

from evals.experiments.types import Plot, Series
from evals.reports.page import document_page, table
from evals.reports.plots import svg

COLUMNS = ("setting", "ready", "joined", "live", "missing", "stall_s_per_call", "p95_turn_stall_s", "hidden_pct",
           "fetches", "wasted", "net_s_per_call", "n")  # fmt: skip

SHORT = {
    "joined": "join", "missing": "miss", "fetches": "sent", "stall_s_per_call": "stall s",
    "p95_turn_stall_s": "worst s", "hidden_pct": "hid %",
    "net_s_per_call": "net s",
}  # fmt: skip
"""Names of columns where a terminal has no room for the whole ones; all but counts are means a call."""


def plot(result: dict[str, Any]) -> Plot:
    rows = [row for row in result["settings"] if row["setting"] != "none"]
    return Plot(
        "Waiting hidden, of what an oracle would hide (recorded words, played again; 95 % intervals)",
        "setting", "% of hideable seconds", [row["setting"] for row in rows],
        [
            Series(
                "hidden",
                [float(row["hidden_pct"] or 0) for row in rows],
                [float(row["hidden_pct_ci95"][0] or 0.0) for row in rows],
                [float(row["hidden_pct_ci95"][1] or 0.0) for row in rows],
            )
        ],
    )  # fmt: skip


def write_page(result: dict[str, Any], source: str, path: Path) -> Path:
    """One HTML file that needs no network."""
    rows = [[escape(str(row[name])) for name in COLUMNS] for row in result["settings"]]
    advice = result["recommendation"]
    body = [
        f"<h1>{escape(source)}, played again</h1>",
        f"<p>{result['calls']} calls, simulated back ends on virtual time. Recommended at {result['price_s']:g} s a "
        f"fetch: <strong>{escape(advice['setting'])}</strong>. {escape(advice['why'])}.</p>",
        f"<figure>{svg(plot(result))}</figure>",
        table(COLUMNS, rows),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document_page("Replay", body), encoding="utf-8")
    return path
