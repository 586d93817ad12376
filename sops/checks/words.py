"""Replies can be filled, queries use slots that exist, and states can be told apart."""

import re
from collections.abc import Iterator

from sops.checks.findings import Findings, Place, nearest
from sops.models import Action, Procedure, Simulated
from sops.tables import Tables

SLOT = re.compile(r"\{([^{}]*)\}")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?")
QUERY_WORDS = ("user_text", "cohort", "mood", "state", "action")
"""Slots of a query template besides facts."""
RAG_FIELDS = ("title", "text", "answer", "score")
FEW_EXAMPLES = 8
"""Fewer examples than this and a state is hardly told apart from its neighbours."""


def check_words(procedure: Procedure, tables: Tables, found: Findings) -> None:
    for name, action in procedure.actions.items():
        for place, text in _replies(name, action):
            for slot in SLOT.findall(text):
                _check_slot(procedure, tables, action, place, slot, found)
        sure = set(action.requires)
        if not any(set(SLOT.findall(text)) <= sure for text in action.replies):
            found.error(
                ("actions", name, "replies"),
                f"actions.{name}.replies: every reply has a slot, so nothing can be said when one is not known.",
                "Add a last reply without slots (or only with facts that the action `requires`).",
            )
    _check_queries(procedure, found)
    _check_summaries(procedure, tables, found)
    _check_examples(procedure, found)


def _replies(name: str, action: Action) -> Iterator[tuple[Place, str]]:
    for field in ("replies", "again"):
        for position, text in enumerate(getattr(action, field)):
            yield ("actions", name, field, position), text
    for state, texts in action.when.items():
        for position, text in enumerate(texts):
            yield ("actions", name, "when", state, position), text


def _check_slot(procedure: Procedure, tables: Tables, action: Action, place: Place, slot: str, found: Findings) -> None:
    where = f"actions.{place[1]}: the reply's slot {{{slot}}}"
    if not PLAIN.fullmatch(slot):
        found.error(place, f"{where} is no plain name.", "Write {fact}, {dependency.field} or {answer}.")
        return
    dependency, dot, field = slot.partition(".")
    if slot == "answer":
        if action.kind != "answer":
            found.error(place, f"{where} is filled in actions of `kind: answer` only.", "Set `kind: answer`.")
    elif not dot:
        if slot not in procedure.facts:
            known = [*procedure.facts, *(f"{name}.…" for name in procedure.dependencies)]
            found.error(place, f"{where} is filled by nobody: there is no such fact.", nearest(slot, known))
    elif dependency not in procedure.dependencies:
        found.error(
            place,
            f"{where} is filled by nobody: there is no such dependency.",
            nearest(dependency, list(procedure.dependencies)),
        )
    elif not any(dependency in other.needs for other in procedure.actions.values()):
        found.error(
            place, f"{where} is filled by nobody: no action needs it.", f"Add {dependency!r} to this action's `needs`."
        )
    else:
        fields = fields_of(procedure, tables, dependency)
        if fields and field not in fields:
            found.error(place, f"{where} is filled by nobody: {dependency} has no such field.", nearest(field, fields))


def fields_of(procedure: Procedure, tables: Tables, dependency: str) -> list[str]:
    """The fields of what this dependency brings, as far as the file tells; [] when only the other side knows."""
    fetch = procedure.dependencies[dependency].fetch
    if isinstance(fetch, Simulated):
        rows = tables.get(fetch.table, {}).values()
        return list(dict.fromkeys(str(field) for row in rows for field in row))
    return list(RAG_FIELDS) if fetch.type == "rag" else []


def _check_queries(procedure: Procedure, found: Findings) -> None:
    for name, dependency in procedure.dependencies.items():
        place: Place = ("dependencies", name, "query_template")
        if dependency.query_template is None:
            if dependency.fetch.type == "rag":
                found.error(
                    ("dependencies", name),
                    f"dependencies.{name}: documents are searched, but there is no query.",
                    'Add `query_template: "{user_text}"`.',
                )
            continue
        known = [*procedure.facts, *QUERY_WORDS]
        for slot in SLOT.findall(dependency.query_template):
            if slot not in known:
                where = f"dependencies.{name}.query_template: the slot {{{slot}}}"
                found.error(place, f"{where} is filled by nobody.", nearest(slot, known))
        if dependency.query_template.count("{") != len(SLOT.findall(dependency.query_template)):
            found.error(place, f"dependencies.{name}.query_template: a brace is not closed.", "Write slots as {name}.")


def _check_summaries(procedure: Procedure, tables: Tables, found: Findings) -> None:
    for name, dependency in procedure.dependencies.items():
        fields = fields_of(procedure, tables, name)
        for slot in SLOT.findall(dependency.summary):
            if fields and slot not in fields:
                place: Place = ("dependencies", name, "summary")
                found.error(place, f"dependencies.{name}.summary: {{{slot}}} is no field of it.", nearest(slot, fields))


def _check_examples(procedure: Procedure, found: Findings) -> None:
    first_place: dict[str, str] = {}
    for name, state in procedure.states.items():
        if len(state.examples) < FEW_EXAMPLES:
            found.warning(
                ("states", name, "examples"),
                f"states.{name}: {len(state.examples)} examples are too few to tell it apart.",
                f"Add varied sentences, {FEW_EXAMPLES} at the least and 25 if you can.",
            )
        for position, text in enumerate(state.examples):
            _check_example(name, position, text, first_place, found)


def _check_example(name: str, position: int, text: str, first_place: dict[str, str], found: Findings) -> None:
    bare = re.sub(r"[^a-z0-9 ]", "", text.lower()).strip()
    other = first_place.setdefault(bare, name)
    place: Place = ("states", name, "examples", position)
    if other != name:
        found.error(
            place,
            f"states.{name}: the example {text!r} stands under {other!r} too.",
            "Keep it where a stranger would put it.",
        )
