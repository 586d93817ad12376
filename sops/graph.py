"""A procedure as a Mermaid diagram: what the agent does, what leads where, and what each step has to fetch."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from sops.models import NEXT, REPEAT, Action, Procedure

ANYWHERE = "anywhere"
_SHAPES = {
    "greet": ('(["', '"])'),
    "ask": ('[/"', '"/]'),
    "answer": ('{{"', '"}}'),
    "confirm": ('{"', '"}'),
    "write": ('[["', '"]]'),
    "close": ('(["', '"])'),
    "hand_over": ('(["', '"])'),
}
_BOX = ('["', '"]')
MAX_STATES_ON_ARROW = 4
"""More states than this on one arrow are counted, not listed: a label of ten lines is not read."""


def mermaid(procedure: Procedure) -> str:
    """The diagram as text, for any Mermaid renderer.

    Thick arrows are the path, plain ones are drawn transitions, and dotted ones lead to what a step fetches. Every
    identifier has a prefix, since words such as `end` are Mermaid's own.
    """
    lines = ["flowchart TD", *_nodes(procedure), *_path(procedure), *_drawn(procedure), *_from_anywhere(procedure)]
    lines += _fetches(procedure)
    lines += [
        "  classDef write stroke-width:3px",
        "  classDef verified stroke-dasharray:6 3",
        *_classes(procedure),
    ]
    return "\n".join(lines)


def _id(name: str) -> str:
    return f"a_{name}"


def _text(text: str) -> str:
    """A label that can't end its own quotes or start a tag."""
    return text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")


def _nodes(procedure: Procedure) -> Iterator[str]:
    for name, action in procedure.actions.items():
        left, right = _SHAPES.get(action.kind, _BOX)
        yield f"  {_id(name)}{left}{_text(name)}{_note(action)}{right}"
    yield f'  {ANYWHERE}(("from any step"))'


def _note(action: Action) -> str:
    """What a step asks for or counts as, on a second line."""
    note = ", ".join(action.asks) if action.asks else action.outcome or ""
    return f"<br/><small>{_text(note)}</small>" if note else ""


def _path(procedure: Procedure) -> Iterator[str]:
    steps = [procedure.start, *procedure.path]
    for step, following in pairwise(steps):
        if step != following:
            yield f"  {_id(step)} ==> {_id(following)}"


def _drawn(procedure: Procedure) -> Iterator[str]:
    for name, action in procedure.actions.items():
        arrows: defaultdict[str, list[str]] = defaultdict(list)
        for state, target in action.on.items():
            arrows[name if target == REPEAT else target].append(state)
        for target, states in arrows.items():
            if target != NEXT:
                yield f'  {_id(name)} -->|"{_label(states)}"| {_id(target)}'


def _from_anywhere(procedure: Procedure) -> Iterator[str]:
    arrows: defaultdict[str, list[str]] = defaultdict(list)
    for state, target in (*procedure.always.items(), *procedure.otherwise.items()):
        if target not in {NEXT, REPEAT}:
            arrows[target].append(state)
    for target, states in arrows.items():
        yield f'  {ANYWHERE} -->|"{_label(states)}"| {_id(target)}'


def _label(states: Iterable[str]) -> str:
    names = [_text(state) for state in states]
    shown = names[:MAX_STATES_ON_ARROW]
    if len(names) > len(shown):
        shown.append(f"and {len(names) - len(shown)} more")
    return "<br/>".join(shown)


def _fetches(procedure: Procedure) -> Iterator[str]:
    used = [need for action in procedure.actions.values() for need in action.needs]
    for name in dict.fromkeys(used):
        latency_s = procedure.dependencies[name].latency_s
        yield f'  d_{name}[("{_text(name)}<br/><small>{latency_s:g} s</small>")]'
    for name, action in procedure.actions.items():
        for need in action.needs:
            yield f"  {_id(name)} -.-> d_{need}"


def _classes(procedure: Procedure) -> Iterator[str]:
    writes = [_id(name) for name, action in procedure.actions.items() if action.kind == "write"]
    guarded = [_id(name) for name, action in procedure.actions.items() if action.verified and action.kind != "write"]
    if writes:
        yield f"  class {','.join(writes)} write"
    if guarded:
        yield f"  class {','.join(guarded)} verified"
