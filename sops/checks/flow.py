"""Every action can be reached, every step of the path gets done, and every call can end."""

from sops.checks.findings import Findings, Place
from sops.models import NEXT, REPEAT, Procedure


def check_flow(procedure: Procedure, found: Findings) -> None:
    reached = reachable(procedure)
    for name in procedure.actions:
        if name not in reached:
            found.error(
                ("actions", name),
                f"actions.{name}: no call ever gets here.",
                "Put it on `path`, or lead to it from `always`, `otherwise` or another action's `on`.",
            )
    _check_path(procedure, found)
    _check_endings(procedure, found)


def reachable(procedure: Procedure) -> frozenset[str]:
    """Actions that some call may come to, by drawn transitions, the path, or what a guard puts first."""
    actions = procedure.actions
    todo = [procedure.start, *procedure.path, *procedure.always.values(), *procedure.otherwise.values()]
    reached: set[str] = set()
    while todo:
        name = todo.pop()
        if name in reached or name not in actions:
            continue
        reached.add(name)
        action = actions[name]
        todo += [target for target in action.on.values() if target not in {NEXT, REPEAT}]
        todo += [action.confirmed_by] if action.confirmed_by else []
        wanted = set(action.requires)
        for need in action.needs:
            if need in procedure.dependencies:
                wanted |= set(procedure.dependencies[need].requires)
        if action.verified:
            wanted |= procedure.verifying
        todo += [asker for asker, other in actions.items() if wanted & set(other.asks)]
    # A step repeated without progress hands over by itself.
    return frozenset(reached | {name for name, action in actions.items() if action.kind == "hand_over"})


def _check_path(procedure: Procedure, found: Findings) -> None:
    for position, name in enumerate(procedure.path):
        action = procedure.actions.get(name)
        place: Place = ("path", position)
        if action is None:
            continue
        if name in procedure.path[:position]:
            found.error(place, f"path: {name!r} stands twice.", "Keep one of them; a step is done once.")
        if action.kind in {"close", "hand_over"} and position < len(procedure.path) - 1:
            found.error(
                place, f"path: the call is over at {name!r}, so no later step gets done.", "Move it to the end."
            )
        if action.kind == "ask" and not action.asks:
            found.warning(
                ("actions", name),
                f"actions.{name}: an `ask` step asks for no fact, so it counts as done once spoken.",
                "Name what it asks for under `asks:`.",
            )
        dead = [fact for fact in action.asks if fact in procedure.facts and not can_be_known(procedure, fact)]
        if dead:
            found.error(
                place,
                f"path: {name!r} never becomes done: nothing can tell {dead[0]!r} from a caller's words.",
                f"Give facts.{dead[0]} a pattern or choices.",
            )


def can_be_known(procedure: Procedure, fact: str) -> bool:
    """Whether something in the file can recognise this fact."""
    declared = procedure.facts[fact]
    return bool(declared.patterns or declared.after or declared.choices)


def _check_endings(procedure: Procedure, found: Findings) -> None:
    kinds = {action.kind: name for name, action in procedure.actions.items()}
    if "close" not in kinds:
        found.error(("actions",), "There is no action of `kind: close`, so no call can end.", "Add one.")
    if "hand_over" not in kinds:
        found.warning(
            ("actions",),
            "There is no action of `kind: hand_over` for callers who want a person.",
            "Add one, and lead to it from `always`.",
        )
    if not any(action.outcome == "success" for action in procedure.actions.values()):
        found.warning(
            ("actions",),
            "No action has `outcome: success`, so no call counts as one.",
            "Mark the step that is the goal.",
        )
    for name, state in procedure.states.items():
        if not state.ends_call:
            continue
        target = procedure.always.get(name) or procedure.otherwise.get(name)
        kind = procedure.actions[target].kind if target in procedure.actions else None
        if kind not in {"close", "hand_over"}:
            found.error(
                ("states", name),
                f"states.{name}: the caller leaves, but no closing answers it.",
                f"Lead there: `always: {{{name}: {kinds.get('close', 'close_call')}}}`.",
            )
