"""The file as a document: fields that do not exist, are missing, or hold the wrong kind of thing."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from sops import models
from sops.checks.findings import Findings, Place, nearest

_MODEL_AT: Mapping[str, type[BaseModel]] = {
    "": models.Procedure,
    "facts": models.Fact,
    "states": models.State,
    "actions": models.Action,
    "cohorts": models.Cohort,
    "moods": models.Mood,
    "dependencies": models.Dependency,
}
_FETCHES: Mapping[str, type[BaseModel]] = {
    "table": models.Simulated,
    "rag": models.RagFetch,
    "python": models.CallableFetch,
    "http": models.HttpFetch,
    "sql": models.SqlFetch,
    "langchain": models.ToolFetch,
    "mcp": models.ToolFetch,
    "openapi": models.ToolFetch,
}
_HINTS = {
    "effect": "Say `effect: read`, or `effect: write` if a call changes anything.",
    "latency_s": "Say how many seconds it usually takes, e.g. `latency_s: 1.5`.",
    "fetch": "Say where it comes from, e.g. `fetch: {type: http, url: https://...}`.",
    "description": "Add a sentence that a stranger would understand.",
    "examples": "Add sentences a caller might say, 25 or more if you can.",
    "replies": "Add at least one approved reply.",
    "prior": "Add `prior:`, the share of callers this is, between 0 and 1.",
    "moods": "Add at least one mood with its `prior:`.",
    "type": "Add `type:`, one of " + ", ".join(_FETCHES) + ".",
    "path": "List the main steps in order, e.g. `path: [verify, quote, close]`.",
    "start": "Name the action that opens the call.",
}


def report_shape(errors: Iterable[ErrorDetails], found: Findings) -> None:
    """What pydantic refused, in the words of the format."""
    for error in errors:
        place = _place(error["loc"])
        found.error(place, _message(error, place), _remedy(error, place))


def _place(loc: tuple[int | str, ...]) -> Place:
    """The place in the file; pydantic adds the fetch's type and "[key]", which are not in it."""
    parts = [part for part in loc if part != "[key]"]
    if len(parts) > 3 and parts[0] == "dependencies" and parts[2] == "fetch" and parts[3] in _FETCHES:
        del parts[3]
    return tuple(parts)


def _spoken(place: Place) -> str:
    return ".".join(str(part) for part in place) or "the file"


def _message(error: ErrorDetails, place: Place) -> str:
    where = _spoken(place)
    match error["type"]:
        case "extra_forbidden":
            return f"{_spoken(place[:-1])}: there is no field {place[-1]!r}."
        case "missing":
            return f"{_spoken(place[:-1])}: {place[-1]!r} is missing."
        case "string_pattern_mismatch" if "[key]" in error["loc"] or _is_name(error):
            return f"{where}: {error['input']!r} is no name."
        case "value_error":
            return f"{where}: {str(error['ctx']['error']).rstrip('.')}."
        case "union_tag_invalid":
            return f"{where}: there is no fetch of type {error['ctx'].get('tag')!r}."
        case "union_tag_not_found":
            return f"{where}: 'type' is missing."
        case _:
            return f"{where}: {error['msg']}."


def _is_name(error: ErrorDetails) -> bool:
    return str(error.get("ctx", {}).get("pattern", "")).startswith("^[a-z]")


def _remedy(error: ErrorDetails, place: Place) -> str:
    match error["type"]:
        case "extra_forbidden":
            return nearest(str(place[-1]), _fields_at(place[:-1], error))
        case "missing":
            return _HINTS.get(str(place[-1]), f"Add `{place[-1]}:`.")
        case "string_type" if isinstance(error["input"], bool | int | float):
            shown = str(error["input"]).lower() if isinstance(error["input"], bool) else error["input"]
            return f'Put it in quotes: "{shown}".'
        case "string_type" if isinstance(error["input"], Mapping):
            return "A text with a colon needs quotes around it."
        case "string_pattern_mismatch":
            return "Use lower-case letters, digits and underscores, starting with a letter."
        case "union_tag_invalid":
            return nearest(str(error["ctx"].get("tag")), list(_FETCHES))
        case "union_tag_not_found":
            return _HINTS["type"]
        case "value_error":
            return "Mend the expression; pieces are <date>, <digits 6>, <amount>, <time> and <name>."
        case "tuple_type" | "list_type":
            return "Write a list: [one, two], or lines that start with a dash."
        case "dict_type" | "model_type":
            return "Write a mapping: `name: value` lines, indented below it."
        case "too_short":
            return "Add at least one."
        case _:
            return "Mend this value."


def _fields_at(place: Place, error: ErrorDetails) -> list[str]:
    """The fields that may stand in the mapping at this place."""
    if len(place) >= 3 and place[0] == "dependencies" and place[2] == "fetch":
        tag: Any = error["loc"][3] if len(error["loc"]) > 3 else ""
        model = _FETCHES.get(str(tag), models.Simulated)
    elif len(place) == 4 and place[2] == "moods":
        model = models.Mood
    else:
        model = _MODEL_AT[str(place[0]) if len(place) == 2 else ""]
    return list(model.model_fields)
