"""Moves an imagined desk forward: what a call would look like after words nobody has said yet."""

from dataclasses import replace

from cuecard.belief.types import Distribution
from cuecard.policy.rules import Desk
from sops.models import NEXT, Procedure


def answered(procedure: Procedure, desk: Desk, state: str) -> Desk:
    """The desk after the caller was in `state`: a state that leads on has given what the last step asked for."""
    last = procedure.actions.get(desk.last_action)
    facts, verified = desk.facts, desk.verified
    if last is not None and last.asks and last.on.get(state, procedure.otherwise.get(state, "")) == NEXT:
        facts = {**facts, **dict.fromkeys(last.asks, "")}
        verified = verified or (bool(procedure.verifying) and procedure.verifying <= set(facts))
    return replace(desk, facts=facts, verified=verified, last_state=state)


def taken(desk: Desk, action: str) -> Desk:
    """The desk after the agent took `action`."""
    repeats = desk.repeats + 1 if action == desk.last_action else 0
    done = desk.done if action in desk.done else [*desk.done, action]
    return replace(desk, last_action=action, done=done, repeats=repeats)


def states_after(procedure: Procedure, action: str) -> Distribution:
    """Caller states expected after `action`: its `expects`, and the rest spread evenly over the other states."""
    expects = procedure.actions[action].expects
    others = [name for name in procedure.states if name not in expects]
    left = max(0.0, 1.0 - sum(expects.values()))
    p = dict(expects) | {name: left / len(others) for name in others}
    total = sum(p.values())
    return {name: value / total for name, value in p.items()}
