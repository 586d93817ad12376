"""The table of a replay in a terminal."""

import io

from rich.console import Console

from cuecard.cli.replay import _table
from evals.replay.report import COLUMNS, SHORT

SETTINGS = ("none", "oracle", "ours", "all_at_identity", "refresh_all", "ours price 0.25", "ours mcts")


def test_eighty_columns_hold_all_titles_and_figures() -> None:
    counts = dict.fromkeys(("ready", "joined", "live", "missing", "n"), 4321)
    seconds = {"stall_s_per_call": 112.412, "p95_turn_stall_s": 12.412, "net_s_per_call": -12.412}
    figures = {**counts, **seconds, "hidden_pct": -12, "fetches": 12.41, "wasted": 12.41}
    assert {*figures, "setting"} == {*COLUMNS}
    titles = {name: SHORT.get(name, name) for name in COLUMNS}
    written = io.StringIO()
    rows = [figures | {"setting": setting} for setting in SETTINGS]
    Console(file=written, width=80, highlight=False).print(_table(rows, titles))
    lines = written.getvalue().splitlines()
    assert "…" not in written.getvalue()
    assert all(len(line) <= 80 for line in lines)
    for title in titles.values():
        assert all(any(word in line for line in lines[:2]) for word in title.split())
