"""The procedure as a prior: what a drawn graph expects next, before anybody has called."""

from typing import NamedTuple, Protocol

from cuecard.belief.types import Distribution
from cuecard.predictors.types import SessionView


class Expected(NamedTuple):
    """Distributions at +1..+horizon. Sources count "" (none) as a label; empty where the graph says nothing."""

    actions: tuple[Distribution, ...] = ()
    sources: tuple[Distribution, ...] = ()
    states: tuple[Distribution, ...] = ()
    due: str = ""
    """The likeliest next step, said only by a drawing that knows what is done and known at the desk. Counts under it
    know as much as the drawing does; all other counts know less, and `trust` is then its share beside them."""
    trust: float = 0.0


NOTHING_DRAWN = Expected()


class GraphPrior(Protocol):
    """What one procedure's drawing expects after `view`. It never raises for unknown names: it says less."""

    def expect(self, view: SessionView, horizon: int) -> Expected: ...


OFF_GRAPH = 0.236
"""Share of human acts that no drawn graph foresaw (evidence, section 2): spread evenly over all its actions."""


def with_off_graph(p: Distribution, names: tuple[str, ...]) -> Distribution:
    """The drawn distribution with the off-graph share spread over `names`."""
    spread = OFF_GRAPH / len(names)
    out = dict.fromkeys(names, spread)
    for name, q in p.items():
        out[name] = out.get(name, 0.0) + (1.0 - OFF_GRAPH) * q
    return out
