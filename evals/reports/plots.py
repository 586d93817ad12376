"""Draws plots as SVG text for light and dark pages: lines and words take the page's own colour."""

import io
from typing import Any

import numpy as np

from evals.experiments.types import Plot

INK = "#767676"
"""Stands for the page's text colour while drawing; replaced by `currentColor`."""
COLOURS = ("#2a7fde", "#e0803c", "#3aa06a", "#b05fc4", "#c9a227", "#d2506e", "#5aa7b8")
"""Readable on white and on near-black."""
_WIDTH_IN, _HEIGHT_IN = 8.0, 3.8


def svg(plot: Plot) -> str:
    """One self-contained `<svg>` element with a title for screen readers. The same plot gives the same text."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": plot.title, "font.size": 10}):
        figure = Figure(figsize=(_WIDTH_IN, _HEIGHT_IN), layout="constrained")
        axes = figure.add_subplot()
        (_bars if plot.kind == "bars" else _lines)(axes, plot)
        _dress(axes, plot)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    drawn = text.getvalue()
    drawn = drawn[drawn.index("<svg") :].replace(INK, "currentColor")
    head, _, rest = drawn.partition(">")
    return f'{head} role="img" aria-label="{_escaped(plot.title)}"><title>{_escaped(plot.title)}</title>{rest}'


def _bars(axes: Any, plot: Plot) -> None:
    width = 0.8 / max(1, len(plot.series))
    middle = np.arange(len(plot.x))
    for n, one in enumerate(plot.series):
        at = middle + (n - (len(plot.series) - 1) / 2) * width
        y = np.asarray(one.y, float)
        errors = _errors(y, one.low, one.high)
        axes.bar(at, y, width * 0.92, yerr=errors, label=one.name, color=COLOURS[n % len(COLOURS)],
                 ecolor=INK, capsize=2)  # fmt: skip
    axes.set_xticks(middle, [str(x) for x in plot.x], rotation=20 if len(plot.x) > 5 else 0)


def _lines(axes: Any, plot: Plot) -> None:
    x = np.asarray(plot.x, float)
    for n, one in enumerate(plot.series):
        colour = COLOURS[n % len(COLOURS)]
        y = np.asarray(one.y, float)
        axes.plot(x, y, marker="o", markersize=4, label=one.name, color=colour)
        if len(one.low) and len(one.high):
            axes.fill_between(x, np.asarray(one.low, float), np.asarray(one.high, float), color=colour, alpha=0.18)
    if plot.log_x:
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_xticks(x, [f"{value:g}" for value in x])


def _errors(y: Any, low: Any, high: Any) -> Any:
    if not len(low) or not len(high):
        return None
    return np.nan_to_num(np.maximum(0.0, np.vstack([y - np.asarray(low, float), np.asarray(high, float) - y])))


def _dress(axes: Any, plot: Plot) -> None:
    axes.set_title(plot.title, color=INK, fontsize=11)
    axes.set_xlabel(plot.x_label, color=INK)
    axes.set_ylabel(plot.y_label, color=INK)
    axes.tick_params(colors=INK)
    for spine in axes.spines.values():
        spine.set_color(INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=INK, alpha=0.2)
    if len(plot.series) > 1:
        axes.legend(frameon=False, labelcolor=INK, fontsize=9, ncols=min(4, len(plot.series)))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
