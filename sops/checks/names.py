"""Every name that is used is declared somewhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sops.checks.findings import Findings, Place, nearest
from sops.models import NEXT, REPEAT, Procedure, Simulated


class Use(NamedTuple):
    """A name used at a place, which must be one of `known`."""

    place: Place
    name: str
    what: str
    known: Sequence[str]


def check_names(procedure: Procedure, found: Findings) -> None:
    for use in _uses(procedure):
        if use.name not in use.known:
            where = ".".join(str(part) for part in use.place if not isinstance(part, int))
            found.error(use.place, f"{where}: unknown {use.what} {use.name!r}.", nearest(use.name, use.known))


def _uses(procedure: Procedure) -> Iterator[Use]:
    actions, states = list(procedure.actions), list(procedure.states)
    facts, dependencies = list(procedure.facts), list(procedure.dependencies)
    yield Use(("start",), procedure.start, "action", actions)
    yield from _each(("path",), procedure.path, "action", actions)
    if procedure.verify_with is not None:
        yield Use(("verify_with",), procedure.verify_with, "dependency", dependencies)
    for field in ("always", "otherwise"):
        yield from _transitions((field,), getattr(procedure, field), states, actions)
    for name, fact in procedure.facts.items():
        for earlier in fact.after:
            yield Use(("facts", name, "after", earlier), earlier, "action", actions)
    for name, action in procedure.actions.items():
        at: Place = ("actions", name)
        yield from _each((*at, "needs"), action.needs, "dependency", dependencies)
        yield from _each((*at, "asks"), action.asks, "fact", facts)
        yield from _each((*at, "requires"), action.requires, "fact", facts)
        yield from _each((*at, "confirm_states"), action.confirm_states, "state", states)
        if action.confirmed_by is not None:
            yield Use((*at, "confirmed_by"), action.confirmed_by, "action", actions)
        yield from _transitions((*at, "on"), action.on, states, actions)
        for field, keys in (("expects", action.expects), ("when", action.when)):
            for state in keys:
                yield Use((*at, field, state), state, "state", states)
    for name, dependency in procedure.dependencies.items():
        at = ("dependencies", name)
        yield from _each((*at, "requires"), dependency.requires, "fact", facts)
        yield from _each((*at, "partial"), dependency.partial, "fact in its own `requires`", dependency.requires)
        fetch = dependency.fetch
        if isinstance(fetch, Simulated) and fetch.key is not None:
            yield Use((*at, "fetch", "key"), fetch.key, "fact in its own `requires`", dependency.requires)
    for old, new in procedure.aliases.items():
        yield Use(("aliases", old), new, "action or state", actions + states)


def _each(place: Place, names: Iterable[str], what: str, known: Sequence[str]) -> Iterator[Use]:
    for position, name in enumerate(names):
        yield Use((*place, position), name, what, known)


def _transitions(place: Place, arrows: Mapping[str, str], states: list[str], actions: list[str]) -> Iterator[Use]:
    for state, target in arrows.items():
        yield Use((*place, state), state, "state", states)
        yield Use((*place, state), target, "transition target", [*actions, NEXT, REPEAT])
