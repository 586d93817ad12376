"""The learning curve as a picture."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_STYLE = {
    "account_key": ("exact key (procedure, state, action)", "#8c8c8c", "-"),
    "shrinkage": ("counts, shrunken", "#1f77b4", "-"),
    "graph": ("drawn graph alone", "#2ca02c", ":"),
    "graph_shrinkage": ("graph + counts", "#2ca02c", "-"),
    "learned": ("learned model alone", "#9467bd", "--"),
    "mixture": ("mixture", "#d62728", "-"),
    "mixture_thompson": ("mixture, Thompson sampling", "#d62728", ":"),
}


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Top-1 and top-3 at +1 against the number of sessions (0 is drawn at 1)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    sizes = [int(key) for key in result if key.isdigit()]
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), sharex=True, layout="constrained")
    for axis, measure in zip(axes, ("top1", "top3"), strict=True):
        for name, (label, colour, line) in _STYLE.items():
            points = [(max(size, 1), result[str(size)][name][measure]) for size in sizes if name in result[str(size)]]
            if points:
                axis.plot(*zip(*points, strict=True), line, color=colour, label=label, marker=".", markersize=5)
        axis.set(xscale="log", xlabel="sessions seen (0 drawn at 1)", title=f"next agent turn, {measure}, %")
        axis.grid(alpha=0.3)
    axes[1].legend(fontsize=8, loc="lower right")
    figure.suptitle(f"Before the user speaks; {result['who']}, n_test={result['n_test']} calls", fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
