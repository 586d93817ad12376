"""The prior of a drawn flow chart (STAR's format): one arrow per step, branches named by what decides them.

Nothing here has seen a session except the numbers in `Habits`, set once on recorded calls.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cuecard.belief.types import Distribution
from cuecard.predictors.graph import Expected
from cuecard.predictors.shrinkage import blend, normalised
from cuecard.predictors.types import UNLABELLED, SessionView, TurnView

_ANSWERS = frozenset({"yes", "no", "done"})
_GRADES = frozenset({"correct", "incorrect", "noanswer"})
_DECIDED_BY_CALLER = _ANSWERS | _GRADES
"""Branches that the caller's answer decides; the others hang on what a query returned."""
_MORE = "anything_else"


@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """One drawn procedure: reply templates by action, arrows, and the arguments its query takes."""

    sop: str
    replies: Mapping[str, str]
    graph: Mapping[str, str]
    inputs: tuple[str, ...] = ()

    @property
    def branches(self) -> tuple[str, ...]:
        """Nodes that are conditions and no acts: nothing leads there and their "reply" is no sentence."""
        reached = set(self.graph.values())
        return tuple(
            node
            for node in self.graph
            if node not in reached and not any(c in self.replies.get(node, "") for c in ".?!")
        )

    @property
    def acts(self) -> tuple[str, ...]:
        conditions = set(self.branches) | {"query_success", "query_failure"} | _DECIDED_BY_CALLER
        return tuple(node for node in self.replies if node not in conditions)

    def label(self, act: str) -> str:
        """A query's label names its source, as the recorded turns do."""
        return f"{act}:{self.sop}" if act.startswith("query") else act


@dataclass(frozen=True, slots=True)
class Habits:
    """How people treat a drawn chart. Set by hand on 600 of STAR's training sessions; see decision 0102."""

    skip: float = 0.25
    """Chance that a step is jumped because the caller has already given what it asks for."""
    query_early: float = 0.2
    """Chance that, before the chart's query, everything it needs is there and it is asked at once."""
    query_again: float = 0.3
    """Chance of another query where the chart has come to an answer or an end."""
    repeat: float = 0.35
    """How likely an act that was taken already is, against one that was not."""
    off_graph: float = 0.236
    """Share of acts that the chart does not foresee here, spread over all of its acts (evidence, section 2)."""


class DrawnPrior:
    """Walks the chart from the last labelled act, turn by turn: a query and the sentence after it are one turn."""

    def __init__(self, drawn: DrawnGraph, habits: Habits | None = None) -> None:
        self._drawn = drawn
        self._habits = habits or Habits()
        self._ends = [act for act in drawn.acts if "bye" in act]
        self._queries = [act for act in drawn.acts if act.startswith("query")]
        # Queries and what a branch leads to come around again; the rest is said once.
        self._once = frozenset(drawn.acts) - frozenset(self._targets(drawn.branches)) - frozenset(self._queries)
        # What is told hangs on the place in the chart and on what was said before: the same few hundred times over.
        self._told = lru_cache(maxsize=2048)(self._tell)
        self._walked: dict[tuple[str, int], tuple[Distribution, ...]] = {}

    def expect(self, view: SessionView, horizon: int) -> Expected:
        """Actions and sources; a chart says nothing about caller states."""
        last = next((act for act in reversed(view.actions) if act != UNLABELLED), "")
        taken = frozenset(view.actions)
        return self._told(last if last in self._drawn.replies else "", taken & self._once, horizon)

    def _tell(self, last: str, taken: frozenset[str], horizon: int) -> Expected:
        walked = self._walked.get((last, horizon))
        if walked is None:
            walked = self._walked[last, horizon] = self._walk(last, horizon)
        firsts = [self._spread(self._damped(first, taken)) for first in walked]
        p_query = [sum(p for act, p in first.items() if act in self._queries) for first in firsts]
        return Expected(
            actions=tuple({self._drawn.label(act): p for act, p in first.items()} for first in firsts),
            sources=tuple({self._drawn.sop: p, "": 1.0 - p} for p in p_query),
        )

    def _walk(self, last: str, horizon: int) -> tuple[Distribution, ...]:
        """First acts of the next turns."""
        at: Distribution = {last: 1.0}
        firsts: list[Distribution] = []
        for _ in range(horizon):
            first: Distribution = {}
            after: Distribution = {}
            for node, p in at.items():
                for act, p_act in self._next(node).items():
                    _add(first, act, p * p_act)
                    for end, p_end in self._said_after(act).items():
                        _add(after, end, p * p_act * p_end)
            firsts.append(first)
            at = after
        return tuple(firsts)

    def _next(self, node: str) -> Distribution:
        """Along the arrows, each step jumped with probability `skip`, or straight to the query."""
        p: Distribution = {}
        left = 1.0
        frontier = self._follow(node)
        for _ in range(3):
            for act, q in frontier.items():
                _add(p, act, left * (1.0 - self._habits.skip) * q)
            left *= self._habits.skip
            # A query is never jumped: what comes after it needs its result.
            frontier = blend([(q, self._onward(act)) for act, q in frontier.items()])
        for act, q in frontier.items():
            _add(p, act, left * q)
        asks = "ask" in node or node in {"", "hello"}
        return blend([(1.0 - self._habits.query_early, p), (self._habits.query_early, self._query())]) if asks else p

    def _onward(self, act: str) -> Distribution:
        return {act: 1.0} if act in self._queries or act in self._ends else self._follow(act)

    def _follow(self, node: str) -> Distribution:
        """Where the arrow leads; where none is drawn, what the caller decides, another query, or the ways out."""
        again = self._habits.query_again
        if not node:
            return _even(self._drawn.acts)
        arrow = self._drawn.graph.get(node)
        if arrow is not None and arrow != _MORE:
            return {arrow: 1.0}
        if node == _MORE or node in self._ends:
            return blend([(1.0 - again, _even(self._ends)), (again, self._query())])
        out = blend([(0.5, _even(self._ends)), (0.5, _even(self._more()))])
        if arrow == _MORE:
            return blend([(1.0 - again, out), (again, self._query())])
        graded = self._targets(_GRADES)
        # Grades follow the question they grade, and answers everything else.
        decided = graded if graded and node not in graded else self._targets(_ANSWERS)
        if not decided:
            return blend([(1.0 - again, out), (again, self._query())])
        return blend([(0.6, _even(decided)), (again, self._query()), (0.4 - again, out)])

    def _said_after(self, act: str) -> Distribution:
        """The last act of a turn that begins with `act`: a query's arrow, or the branches that its result decides."""
        if act not in self._queries:
            return {act: 1.0}
        if act in self._drawn.graph:
            return {self._drawn.graph[act]: 1.0}
        results = [branch for branch in self._drawn.branches if branch not in _DECIDED_BY_CALLER]
        return _even(self._targets(results)) or _even(self._drawn.acts)

    def _targets(self, branches: Iterable[str]) -> list[str]:
        graph = self._drawn.graph
        return sorted({graph[branch] for branch in branches if branch in graph})

    def _query(self) -> Distribution:
        """The query that looks (query, query_check) rather than the one that books, which needs a yes first."""
        return _even(sorted(self._queries)[-1:])

    def _more(self) -> list[str]:
        return [_MORE] if _MORE in self._drawn.replies else []

    def _damped(self, p: Distribution, taken: frozenset[str]) -> Distribution:
        return normalised({act: q * (self._habits.repeat if act in taken else 1.0) for act, q in p.items()})

    def _spread(self, p: Distribution) -> Distribution:
        acts = self._drawn.acts
        out = dict.fromkeys(acts, self._habits.off_graph / len(acts))
        for act, q in p.items():
            _add(out, act, (1.0 - self._habits.off_graph) * q)
        return out


class AnyPrior:
    """The mean of several charts, for moments when none is open yet."""

    def __init__(self, parts: Sequence[DrawnPrior]) -> None:
        self._parts = parts
        self._told = lru_cache(maxsize=2048)(self._tell)

    def expect(self, view: SessionView, horizon: int) -> Expected:
        return self._told(view.actions, horizon)

    def _tell(self, actions: tuple[str, ...], horizon: int) -> Expected:
        view = SessionView("", tuple(TurnView("", "", action) for action in actions))
        told = [part.expect(view, horizon) for part in self._parts]
        return Expected(
            actions=tuple(blend([(1.0, one.actions[k]) for one in told]) for k in range(horizon)),
            sources=tuple(blend([(1.0, one.sources[k]) for one in told]) for k in range(horizon)),
        )


def _even(acts: Sequence[str]) -> Distribution:
    return dict.fromkeys(acts, 1.0 / len(acts)) if acts else {}


def _add(p: Distribution, name: str, amount: float) -> None:
    p[name] = p.get(name, 0.0) + amount
