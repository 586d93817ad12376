"""Writes happen once and after a yes; nothing personal is fetched, shown or shared before its time."""

import re

from sops.checks.findings import Findings, Place
from sops.checks.flow import can_be_known, reachable
from sops.checks.words import SLOT
from sops.models import NEXT, Procedure

_NESTED_REPEAT = re.compile(r"\((?:\?:)?(?:[^()\\]|\\.)*[+*](?:[^()\\]|\\.)*\)[+*]")
"""A group that holds an unbounded repeat and is itself repeated without bound: (a+)+."""


def check_safety(procedure: Procedure, found: Findings) -> None:
    _check_writes(procedure, found)
    _check_verification(procedure, found)
    _check_facts(procedure, found)
    _check_answers(procedure, found)
    _check_sharing(procedure, found)
    _check_hosts(procedure, found)


def _writes(procedure: Procedure, action: str) -> list[str]:
    needs = procedure.actions[action].needs
    declared = procedure.dependencies
    return [need for need in needs if need in declared and declared[need].effect == "write"]


def _check_writes(procedure: Procedure, found: Findings) -> None:
    taken_by: dict[str, str] = {}
    for name, action in procedure.actions.items():
        place: Place = ("actions", name)
        writes = _writes(procedure, name)
        for write in writes:
            other = taken_by.setdefault(write, name)
            if other != name:
                found.error(place, f"actions.{name}: {other!r} writes {write!r} too.", "Let one action write it, once.")
        if action.kind != "write":
            if writes:
                found.error(
                    place, f"actions.{name}: it writes {writes[0]!r} but is no write step.", "Set `kind: write`."
                )
            continue
        if not writes:
            found.error(
                place,
                f"actions.{name}: a write step needs a dependency with `effect: write`.",
                "Add one to its `needs`.",
            )
        _check_confirmation(procedure, name, found)


def _check_confirmation(procedure: Procedure, name: str, found: Findings) -> None:
    action = procedure.actions[name]
    place: Place = ("actions", name)
    if action.confirmed_by is None or not action.confirm_states:
        found.error(
            place,
            f"actions.{name}: it writes without the caller's yes.",
            "Name the step that asks, `confirmed_by: ...`, and the states that mean yes, `confirm_states: [...]`.",
        )
        return
    asking = procedure.actions.get(action.confirmed_by)
    if asking is None:
        return
    for state in action.confirm_states:
        if asking.on.get(state, procedure.otherwise.get(state, NEXT)) not in {name, NEXT}:
            found.error(
                ("actions", action.confirmed_by, "on"),
                f"actions.{action.confirmed_by}.on: {state!r} does not lead to {name!r}, so it is never written.",
                f"Add `{state}: {name}`.",
            )


def _check_verification(procedure: Procedure, found: Findings) -> None:
    lookup = procedure.dependencies.get(procedure.verify_with or "")
    if lookup is not None and lookup.verified:
        found.error(
            ("dependencies", str(procedure.verify_with)),
            f"dependencies.{procedure.verify_with}: it proves identity, so it can't wait for a verified identity.",
            "Set `verified: false` on it, and bring nothing but what the check needs.",
        )
    asked = {fact for action in procedure.actions.values() for fact in action.asks}
    wanted = any(action.verified for action in procedure.actions.values())
    if wanted and not procedure.verifying & asked:
        found.error(
            ("facts",),
            "Some actions need a verified identity, but no step asks for a fact that verifies it.",
            "Set `verifies: true` on the facts that do, and list them under an action's `asks:`.",
        )
    reached = reachable(procedure)
    for name, action in procedure.actions.items():
        if action.verified or name not in reached:
            continue
        for position, need in enumerate(action.needs):
            declared = procedure.dependencies.get(need)
            if declared is not None and declared.verified:
                found.error(
                    ("actions", name, "needs", position),
                    f"actions.{name}: it needs {need!r}, which only a verified caller may have, "
                    "but can be reached without.",
                    f"Set `verified: true` on the action, or `verified: false` on {need!r} if nothing in it is "
                    "personal.",
                )


def _check_facts(procedure: Procedure, found: Findings) -> None:
    asked = {fact for action in procedure.actions.values() for fact in action.asks}
    used: dict[str, Place] = {}
    for name, action in procedure.actions.items():
        for position, fact in enumerate(action.requires):
            used.setdefault(fact, ("actions", name, "requires", position))
    for name, dependency in procedure.dependencies.items():
        for position, fact in enumerate(dependency.requires):
            if fact not in dependency.partial:
                used.setdefault(fact, ("dependencies", name, "requires", position))
    for fact, place in used.items():
        if fact not in procedure.facts:
            continue
        if fact not in asked:
            message = f"{place[0]}.{place[1]}: it requires {fact!r}, but nobody asks for it."
            found.error(place, message, f"List {fact!r} under the `asks:` of an action.")
    for name in procedure.facts:
        if not can_be_known(procedure, name):
            message = f"facts.{name}: nothing can tell it from a caller's words."
            found.error(("facts", name), message, "Add `patterns:` or `choices:`.")
    _check_patterns(procedure, found)


def _check_patterns(procedure: Procedure, found: Findings) -> None:
    """Patterns meet whatever callers say, so one that takes exponential time on some words can hold up the call."""
    for name, fact in procedure.facts.items():
        places: list[tuple[Place, str]] = [
            (("facts", name, "patterns", position), pattern) for position, pattern in enumerate(fact.patterns)
        ]
        places += [(("facts", name, "after", action), pattern) for action, pattern in fact.after.items()]
        for place, pattern in places:
            if _NESTED_REPEAT.search(pattern):
                found.error(
                    place,
                    f"facts.{name}: a repeat within a repeat may take for ever on some words.",
                    "Limit one of them, e.g. `{1,20}` in place of `+`.",
                )
            if re.compile(pattern).search("") is not None:
                found.error(place, f"facts.{name}: the pattern matches nothing at all.", "Make part of it required.")


def _check_answers(procedure: Procedure, found: Findings) -> None:
    for name, action in procedure.actions.items():
        if action.kind != "answer":
            continue
        needs = [procedure.dependencies[need] for need in action.needs if need in procedure.dependencies]
        if not any(need.fetch.type == "rag" for need in needs):
            found.error(
                ("actions", name),
                f"actions.{name}: it answers from documents but needs none.",
                "Add a dependency with `fetch: {type: rag, ...}` to its `needs`.",
            )


def _check_sharing(procedure: Procedure, found: Findings) -> None:
    for name, dependency in procedure.dependencies.items():
        if dependency.scope == "session":
            continue
        slots = SLOT.findall(dependency.query_template or "")
        personal = [
            fact
            for fact in (*dependency.requires, *slots)
            if fact in procedure.facts and procedure.facts[fact].personal
        ]
        if personal:
            found.error(
                ("dependencies", name, "scope"),
                f"dependencies.{name}: it depends on {personal[0]!r}, which is one caller's own, "
                "but is shared between callers.",
                "Set `scope: session`.",
            )


def _check_hosts(procedure: Procedure, found: Findings) -> None:
    """Where a request goes is for the declaration to say; encoding a slot's value keeps no host from being another."""
    for name, dependency in procedure.dependencies.items():
        if dependency.fetch.type != "http":
            continue
        scheme, _, rest = dependency.fetch.url.partition("://")
        host = re.split(r"[/?#]", rest)[0]
        if SLOT.search(scheme) or SLOT.search(host):
            found.error(
                ("dependencies", name, "fetch", "url"),
                f"dependencies.{name}: what a caller says would choose the host that is asked.",
                "Write the host out; slots belong in the path, in `params:` or in `body:`.",
            )
