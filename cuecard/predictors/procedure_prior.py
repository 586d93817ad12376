"""The prior of a shipped procedure: its rules, rolled forward over the caller states it expects."""

from collections import OrderedDict
from typing import NamedTuple

from cuecard.belief.types import Distribution, top
from cuecard.policy.imagine import answered, states_after, taken
from cuecard.policy.rules import Desk, choose
from cuecard.predictors.graph import Expected, with_off_graph
from cuecard.predictors.types import SessionView
from sops.models import Procedure

_BEAM = 8
"""Branches kept per offset, likeliest first; the rest hold under 2 % together on the shipped procedures."""
_CACHE = 2048
TRUST = 0.7
"""Share of the rules beside counts that do not know the desk. Flat from .6 to .8 on simulated calls (decision 0107)."""


class _Branch(NamedTuple):
    p: float
    desk: Desk


class _Alike(NamedTuple):
    """States that the rules cannot tell apart after some action: any of them stands for all."""

    states: tuple[str, ...]
    p: float


class ProcedurePrior:
    """Rolls `policy.rules.choose` forward: states from `expects`, actions from the transitions, sources from `needs`.

    What it says depends on the desk alone, so it is remembered per desk and costs a dictionary look-up the second time.
    """

    def __init__(self, procedure: Procedure) -> None:
        self._procedure = procedure
        self._actions = tuple(procedure.actions)
        self._states = {name: states_after(procedure, name) for name in procedure.actions}
        self._alike = {name: self._grouped(name) for name in procedure.actions}
        self._remembered: OrderedDict[tuple[object, ...], Expected] = OrderedDict()

    def expect(self, view: SessionView, horizon: int) -> Expected:
        last = view.actions[-1] if view.turns else ""
        key = (last, view.facts, view.done, view.verified, horizon)
        known = self._remembered.get(key)
        if known is None:
            known = self._remembered[key] = self._roll(last, view, horizon)
            if len(self._remembered) > _CACHE:
                self._remembered.popitem(last=False)
        return known

    def _roll(self, last: str, view: SessionView, horizon: int) -> Expected:
        last = self._procedure.aliases.get(last, last)
        if last not in self._procedure.actions:
            last = ""
        facts = dict.fromkeys(view.facts, "")
        branches = [_Branch(1.0, Desk(facts=facts, verified=view.verified, done=sorted(view.done), last_action=last))]
        actions: list[Distribution] = []
        sources: list[Distribution] = []
        states: list[Distribution] = []
        for _ in range(horizon):
            at: Distribution = {}
            action_p: Distribution = {}
            after: dict[tuple[object, ...], _Branch] = {}
            for branch in branches:
                last = branch.desk.last_action or self._procedure.start
                for state, p_state in self._states[last].items():
                    at[state] = at.get(state, 0.0) + branch.p * p_state
                for alike in self._alike[last]:
                    p = branch.p * alike.p
                    desk = self.step(branch.desk, alike.states[0])
                    action_p[desk.last_action] = action_p.get(desk.last_action, 0.0) + p
                    key = (desk.last_action, desk.verified, tuple(desk.done), frozenset(desk.facts))
                    so_far = after.get(key)
                    after[key] = _Branch(p + (so_far.p if so_far else 0.0), desk)
            states.append(at)
            actions.append(with_off_graph(action_p, self._actions))
            sources.append(self._sources(actions[-1]))
            branches = _likeliest(list(after.values()))
        due = top(actions[0]).name if actions else ""
        return Expected(tuple(actions), tuple(sources), tuple(states), due, TRUST)

    def _grouped(self, action: str) -> list[_Alike]:
        """What the rules ask of a state (policy.rules): where it leads, whether it ends the call, what it confirms."""
        procedure = self._procedure
        groups: dict[tuple[object, ...], _Alike] = {}
        for state, p in self._states[action].items():
            confirms = frozenset(
                name
                for name, one in procedure.actions.items()
                if one.confirmed_by == action and state in one.confirm_states
            )
            key = (
                procedure.always.get(state),
                procedure.actions[action].on.get(state, procedure.otherwise.get(state)),
                procedure.states[state].ends_call,
                confirms,
            )
            known = groups.get(key)
            groups[key] = _Alike((*known.states, state), known.p + p) if known else _Alike((state,), p)
        return list(groups.values())

    def alike(self, action: str) -> list[tuple[str, ...]]:
        """The caller's states, grouped by what the rules can tell apart after `action`."""
        return [group.states for group in self._alike[action]]

    def step(self, desk: Desk, state: str) -> Desk:
        """The desk after the caller was in `state` and the rules chose. A state that leads on has answered."""
        procedure = self._procedure
        if not desk.last_action:
            return taken(desk, procedure.start)
        desk = answered(procedure, desk, state)
        return taken(desk, choose(procedure, desk, state).action)

    def _sources(self, actions: Distribution) -> Distribution:
        """Each action consults what it needs first, in equal shares when it needs several; "" for nothing."""
        p: Distribution = {}
        for name, p_action in actions.items():
            needs = self._procedure.actions[name].needs or ("",)
            for source in needs:
                p[source] = p.get(source, 0.0) + p_action / len(needs)
        return p


def _likeliest(branches: list[_Branch]) -> list[_Branch]:
    kept = sorted(branches, key=lambda branch: -branch.p)[:_BEAM]
    total = sum(branch.p for branch in kept)
    return [branch._replace(p=branch.p / total) for branch in kept]
