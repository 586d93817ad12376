"""What a caller is likely to do next: the prior over states after an action, and P(the state changes).

The agent's last action is the best single feature for content states; moods that show in a state last (evidence 2).
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cuecard.belief.types import Distribution
from sops.models import NEXT, REPEAT, Procedure

Doubles = npt.NDArray[np.float64]

UNSEEN_SHARE = 0.3
"""Part of the prior spread over all states alike: a quarter of human acts leave the drawn graph (evidence 2)."""
AFFECT_INERTIA = 0.25
"""P(a worried, annoyed, ... state is simply still going on)."""
CALM_INERTIA = 0.05
COUNT_PRIOR = 8.0
"""Turns of observation that weigh as much as the drawn graph does."""


class Dynamics:
    """Priors over a procedure's states. `stays` are observed (times it stayed, times seen) of each state."""

    def __init__(self, procedure: Procedure, stays: Mapping[str, tuple[int, int]] | None = None) -> None:
        self.states = tuple(procedure.states)
        self._procedure = procedure
        self._index = {state: i for i, state in enumerate(self.states)}
        self._uniform = np.full(len(self.states), 1.0 / len(self.states))
        self._after = {action: self._drawn(action) for action in procedure.actions}
        self._inertia = np.array(
            [
                AFFECT_INERTIA if state.affect in {"worried", "annoyed", "hurried", "unsure"} else CALM_INERTIA
                for state in procedure.states.values()
            ]
        )
        self._next = {action: self._following(action) for action in procedure.actions}
        self._stays = stays or {}
        self._stay = {action: self._stay_table(action) for action in [*procedure.actions, ""]}

    def after(self, action: str | None) -> Doubles:
        """P(state) of the utterance that answers `action`; uniform when the action is unknown or none."""
        if action is None:
            return self._uniform
        name = self._procedure.aliases.get(action, action)
        return self._after.get(name, self._uniform)

    def expected(self, action: str | None, before: Distribution) -> Doubles:
        """The same, leaning on the state of the turn before where its affect lasts.

        No action and no turn before: perhaps the first words of a call, which answer a greeting, said or not.
        """
        prior = self.after(action)
        if not before:
            return prior if action else 0.5 * prior + 0.5 * self.after(self._procedure.start)
        held = np.zeros_like(prior)
        for state, p in before.items():
            if state in self._index:
                held[self._index[state]] += p
        held *= np.where(self._inertia > CALM_INERTIA, self._inertia, 0.0)
        out: Doubles = prior * (1.0 - held.sum()) + held
        return out

    def p_change(self, action: str | None, state: Doubles) -> float:
        """P(the next state differs), given the action that was answered and P(state) of the answer."""
        name = self._procedure.aliases.get(action, action) if action is not None else ""
        stay = self._stay.get(name, self._stay[""])
        return float(np.clip(1.0 - state @ stay, 0.01, 0.99))

    def _drawn(self, action: str) -> Doubles:
        expects = self._procedure.actions[action].expects
        out = np.zeros(len(self.states))
        for state, p in expects.items():
            if state in self._index:
                out[self._index[state]] = p
        rest = max(0.0, 1.0 - float(out.sum()))
        others = out == 0.0
        if others.any():
            out[others] = rest / others.sum()
        out /= out.sum()
        mixed: Doubles = (1.0 - UNSEEN_SHARE) * out + UNSEEN_SHARE * self._uniform
        return mixed

    def _following(self, action: str) -> list[str]:
        """The action that each state leads to after `action`, as drawn ("" when nothing is)."""
        procedure = self._procedure
        targets = {**procedure.otherwise, **procedure.actions[action].on, **procedure.always}
        out = []
        for state in self.states:
            target = targets.get(state, NEXT)
            if target == NEXT:
                target = self._step_after(action)
            elif target == REPEAT:
                target = action
            out.append(target)
        return out

    def _step_after(self, action: str) -> str:
        path = self._procedure.path
        if action in path:
            return path[min(path.index(action) + 1, len(path) - 1)]
        return ""

    def _stay_table(self, action: str) -> Doubles:
        """P(same state next) of each state when it answers `action`."""
        out = np.empty(len(self.states))
        for i, state in enumerate(self.states):
            following = self._next[action][i] if action else ""
            drawn = self._after.get(following, self._uniform)[i]
            graph = self._inertia[i] + (1.0 - self._inertia[i]) * drawn
            stayed, seen = self._stays.get(state, (0, 0))
            out[i] = (COUNT_PRIOR * graph + stayed) / (COUNT_PRIOR + seen)
        return out
