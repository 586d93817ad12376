"""A call that began under another version of its procedure: what of it still holds, and what has to go.

A process keeps the version that it loaded, so this happens after a restart, or among processes of different age.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import orjson

from cuecard.policy import Desk
from cuecard.predictors.types import TurnView
from sops.models import Procedure, RagFetch


def mark_of(procedure: Procedure) -> str:
    """`VERSION-HASH` of what a call may depend on: two marks differ if steps, facts, rules or replies do.

    Examples are left out, which only train the ear, and folders, which differ from machine to machine.
    """
    content = procedure.model_dump(mode="json")
    for state in content["states"].values():
        state.pop("examples", None)
    for name, dependency in procedure.dependencies.items():
        if isinstance(dependency.fetch, RagFetch):
            content["dependencies"][name]["fetch"]["corpus"] = Path(dependency.fetch.corpus).name
    digest = hashlib.blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()
    return f"{procedure.version}-{digest}"


def version_in(mark: str) -> str:
    return mark.partition("-")[0] or "unknown"


def carry_over(procedure: Procedure, desk: Desk) -> list[str]:
    """Bring a desk to this version; returns the names of steps and facts that are gone.

    Whoever calls proves once more who they are, and a yes to a question of the other version executes nothing: that
    question is asked again. What was written stays in the books.
    """
    done = [_now(procedure, name) for name in desk.done]
    lost = [f"step {name}" for name in done if name not in procedure.actions]
    lost += [f"fact {name}" for name, value in desk.facts.items() if not _fits(procedure, name, value)]
    desk.done = [name for name in dict.fromkeys(done) if name in procedure.actions]
    desk.facts = {name: value for name, value in desk.facts.items() if _fits(procedure, name, value)}
    confirming = {action.confirmed_by for action in procedure.actions.values() if action.kind == "write"}
    last = _now(procedure, desk.last_action)
    desk.last_action = last if last in procedure.actions and last not in confirming else ""
    state = _now(procedure, desk.last_state)
    desk.last_state = state if state in procedure.states else ""
    desk.repeats, desk.verified, desk.refused = 0, False, {}
    return lost


def known_turns(procedure: Procedure, turns: Iterable[TurnView]) -> list[TurnView]:
    """The turns in this version's words; what it has no word for is left open."""
    found = []
    for turn in turns:
        state, action = _now(procedure, turn.state), _now(procedure, turn.action)
        found.append(
            turn._replace(
                state=state if state in procedure.states else "",
                action=action if action in procedure.actions else "",
                source=turn.source if turn.source in procedure.dependencies else "",
            )
        )
    return found


def _now(procedure: Procedure, name: str) -> str:
    """What a name of an earlier version is called in this one."""
    return procedure.aliases.get(name, name)


def _fits(procedure: Procedure, name: str, value: str) -> bool:
    fact = procedure.facts.get(name)
    return fact is not None and (not fact.choices or bool(fact.patterns or fact.after) or value in fact.choices)
