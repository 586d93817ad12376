"""The procedure's rules: which actions are allowed now, and which one comes next when nobody has a better idea.

Human conversations leave the drawn graph in a quarter of turns (evidence 2), so every state has a sane next step
whether the graph draws it or not, and an agent that would say the same thing a third time hands over instead.
"""

from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sops.models import NEXT, REPEAT, Action, Procedure

MAX_REPEATS = 2
"""The same step this often in a row without progress, and a person takes over."""


@dataclass(slots=True)
class Desk:
    """Where the call stands: what the responder must not lose, saved with every turn's checkpoint."""

    facts: dict[str, str] = field(default_factory=dict)
    verified: bool = False
    done: list[str] = field(default_factory=list)
    last_action: str = ""
    last_state: str = ""
    repeats: int = 0
    outcome: str = ""
    ended: bool = False
    writes: dict[str, str] = field(default_factory=dict)
    """Idempotency key to what the write returned."""
    refused: dict[str, str] = field(default_factory=dict)
    """Verifying facts, as given, that the record on file did not bear out: not looked up again unchanged."""
    fact_epochs: dict[str, int] = field(default_factory=dict)
    """How often each fact was corrected: a corrected fact invalidates what was fetched with the old one."""
    made_under: str = ""
    """Mark of the procedure's version under which the last turn was taken (`cuecard.other_version`)."""

    def to_json(self) -> dict[str, Any]:
        """A copy: what is saved must not change with a turn that is cut off later."""
        return {name: copy(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: dict[str, Any] | None) -> "Desk":
        """A desk of its own: the saved one, which may lie in memory, stays as it is."""
        return cls(**{k: copy(v) for k, v in (data or {}).items() if k in cls.__slots__})


class Choice(NamedTuple):
    action: str
    reason: str


def step_done(procedure: Procedure, name: str, desk: Desk) -> bool:
    """A step that asks is done when all it asks for is known (and proven, where it is identity); others once taken."""
    asks = procedure.actions[name].asks
    if not asks:
        return name in desk.done
    if procedure.verifying & set(asks) and not desk.verified:
        return False
    return all(fact in desk.facts for fact in asks)


def next_step(procedure: Procedure, desk: Desk) -> str:
    """The first step of the path that is not done; the last one when all are."""
    for name in procedure.path:
        if not step_done(procedure, name, desk):
            return name
    return procedure.path[-1]


def resolve(procedure: Procedure, desk: Desk, target: str) -> str:
    if target == NEXT:
        return next_step(procedure, desk)
    if target == REPEAT:
        return desk.last_action or procedure.start
    return target


def guard(procedure: Procedure, desk: Desk, name: str, state: str) -> Choice | None:
    """What must come before `name`, or None when nothing stands in its way.

    Followed to its end: what must come first may itself need something first.
    """
    first: Choice | None = None
    seen = {name}
    while (before := _before(procedure, desk, first.action if first else name, state)) and before.action not in seen:
        seen.add(before.action)
        first = before
    return first


def _before(procedure: Procedure, desk: Desk, name: str, state: str) -> Choice | None:
    """The one thing that must come right before `name`."""
    action = procedure.actions[name]
    if action.kind == "write" and not confirmed(action, desk, state):
        # Asked again rather than passed over: the next step of the path may be this very write.
        return Choice(action.confirmed_by or desk.last_action or procedure.start, f"{name} needs a yes first")
    missing = [fact for fact in action.requires if fact not in desk.facts]
    for dep in action.needs:
        declared = procedure.dependencies[dep]
        missing += [fact for fact in declared.requires if fact not in desk.facts and fact not in declared.partial]
    if missing:
        asker = next((n for n, a in procedure.actions.items() if missing[0] in a.asks), None)
        if asker is not None and asker != name:
            return Choice(asker, f"{name} needs {missing[0]}")
    if action.verified and not desk.verified:
        asker = verifying_step(procedure)
        if asker is not None and asker != name:
            return Choice(asker, f"{name} needs a verified identity")
    return None


def verifying_step(procedure: Procedure) -> str | None:
    """The step that asks for the facts which prove identity."""
    return next((n for n, a in procedure.actions.items() if procedure.verifying & set(a.asks)), None)


def confirmed(action: Action, desk: Desk, state: str) -> bool:
    return desk.last_action == action.confirmed_by and state in action.confirm_states


def choose(procedure: Procedure, desk: Desk, state: str) -> Choice:
    """The next action by the rules alone: `always`, then the drawn transition, then `otherwise`, then the path."""
    last = procedure.actions.get(desk.last_action)
    answered = last is not None and bool(last.asks) and step_done(procedure, desk.last_action, desk)
    if answered and state in procedure.states and procedure.states[state].ends_call:
        choice = Choice(next_step(procedure, desk), f"{desk.last_action} was just answered, which nobody does to leave")
    elif state in procedure.always:
        choice = Choice(resolve(procedure, desk, procedure.always[state]), f"{state} always leads there")
    elif last is not None and state in last.on:
        choice = Choice(resolve(procedure, desk, last.on[state]), f"drawn: {desk.last_action} on {state}")
    elif state in procedure.otherwise:
        choice = Choice(resolve(procedure, desk, procedure.otherwise[state]), f"{state} leads there from anywhere")
    else:
        choice = Choice(next_step(procedure, desk), "next step of the path")
    choice = guard(procedure, desk, choice.action, state) or choice
    stuck = choice.action == desk.last_action and desk.repeats >= MAX_REPEATS
    person = next((n for n, a in procedure.actions.items() if a.kind == "hand_over"), None)
    if stuck and person is not None and procedure.actions[choice.action].kind not in {"answer", "close"}:
        return Choice(person, f"{choice.action} was said {desk.repeats + 1} times without progress")
    return choice


def allowed_actions(procedure: Procedure, desk: Desk, state: str) -> list[str]:
    """Every action that a model may choose now: nothing that a guard stands before. The rules' choice comes first."""
    first = choose(procedure, desk, state).action
    rest = [name for name in procedure.actions if name != first and guard(procedure, desk, name, state) is None]
    return [first, *rest]
