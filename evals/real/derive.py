"""Drafts procedures from drawn flow charts: steps, arrows and approved words, for a person to finish.

A chart says nothing about callers, patterns of facts, or where data comes from. Those parts hold the least that the
format allows, and their descriptions say so.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from cuecard.predictors.drawn import DrawnGraph
from sops.checks.flow import reachable
from sops.models import Procedure

_SLOT = re.compile(r"\{[^}]*\}")
_STATES: dict[str, tuple[str, str, list[str]]] = {
    "opens": ("Greets or says what the call is about.", "calm", ["Hello.", "Hi, I need some help."]),
    "gives_details": ("Gives what was asked for.", "calm", ["It's on Tuesday.", "My name is Alexis."]),
    "agrees": ("Says yes.", "pleased", ["Yes please.", "Sounds good."]),
    "declines": ("Says no.", "calm", ["No, thanks.", "No, that's not right."]),
    "asks_question": ("Asks something.", "calm", ["What can I choose from?", "Is there a balcony?"]),
    "says_goodbye": ("Wants to end the call.", "pleased", ["Thank you, bye.", "That's all, thanks."]),
}


def write_drafts(drawings: dict[str, DrawnGraph], folder: Path) -> list[Path]:
    """One YAML file per chart, in `folder`. An existing file is left alone: somebody may have finished it."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, drawn in drawings.items():
        path = folder / f"{name}.yaml"
        if not path.exists():
            path.write_text(yaml.safe_dump(draft(drawn), sort_keys=False, allow_unicode=True, width=110), "utf-8")
            written.append(path)
    return written


def draft(drawn: DrawnGraph) -> dict[str, Any]:
    """The chart as the data of a procedure file. Steps that no arrow reaches are left out, but for questions."""
    acts = [act for act in drawn.acts if not act.startswith("query")]
    first = _draft(drawn, acts)
    reached = reachable(Procedure.model_validate(first))
    asks = [act for act in acts if act not in reached and "_ask_" in act]
    return _draft(drawn, [act for act in acts if act in reached or act in asks], asks)


def _draft(drawn: DrawnGraph, acts: list[str], asks: Sequence[str] = ()) -> dict[str, Any]:
    """With the given steps; `asks` join the path, since no arrow leads to them."""
    start = "hello" if "hello" in acts else acts[0]
    closing = next((act for act in acts if "bye" in act), acts[-1])
    facts = {_snake(name): name for name in drawn.inputs}
    line = [act for act in _main_line(drawn, start) if act in acts and act not in {start, closing}]
    path = [*dict.fromkeys([*asks, *line]), closing]
    aside = {"asks_question": "out_of_scope"} if "out_of_scope" in acts else {}
    return {
        "name": drawn.sop,
        "title": drawn.sop.replace("_", " ").capitalize(),
        "description": "Draft from a drawn flow chart; callers, fact patterns and the back office are not told yet.",
        "start": start,
        "path": path,
        "always": {"says_goodbye": closing},
        "otherwise": {"opens": "@next", "gives_details": "@next", "agrees": "@next", **aside},
        "facts": {
            fact: {"description": f"{name}, an argument of the query. Add patterns.", "patterns": [rf"(?i)\b{name}\b"]}
            for fact, name in facts.items()
        },
        "states": {
            name: {"description": what, "affect": affect, "examples": examples, **_flags(name)}
            for name, (what, affect, examples) in _STATES.items()
        },
        "actions": {act: _action(drawn, act, acts, facts, closing) for act in acts},
        "cohorts": {
            "callers": {
                "prior": 1.0,
                "description": "Everybody; split by what your callers want.",
                "moods": {"any": {"prior": 1.0, "description": "Not told apart yet."}},
            }
        },
        "dependencies": {
            "lookup": {
                "kind": "http",
                "effect": "read",
                "description": "The chart's query. Point it at your service; effect: write if it changes the world.",
                "fetch": {"type": "http", "url": f"https://api.example.com/{drawn.sop}"},
                "requires": [],
                "verified": False,
                "latency_s": 2.0,
            }
        },
    }


def _flags(state: str) -> dict[str, bool]:
    if state == "asks_question":
        return {"asks": True}
    return {"ends_call": True} if state == "says_goodbye" else {}


def _action(drawn: DrawnGraph, act: str, acts: list[str], facts: dict[str, str], closing: str) -> dict[str, Any]:
    words = _SLOT.sub("", drawn.replies[act]).replace("''", "").strip() or act.replace("_", " ")
    asked = [fact for fact in facts if fact.split("_")[0] in act.split("_ask_")[-1]] if "_ask_" in act else []
    out: dict[str, Any] = {
        "kind": _kind(act),
        "description": f"Drawn step {act}.",
        "replies": [re.sub(r"\s+", " ", words)],
    }
    if act in _after_query(drawn):
        out["needs"] = ["lookup"]
    if asked:
        out["asks"] = asked[:1]
    arrows = {state: target for state, target in _arrows(drawn, act) if target in acts}
    if arrows:
        out["on"] = arrows
    if act == closing:
        out["outcome"] = "success"
    return out


def _kind(act: str) -> str:
    for part, kind in (("hello", "greet"), ("bye", "close"), ("confirm", "confirm"), ("ask", "ask")):
        if part in act:
            return kind
    return "small_talk" if act == "out_of_scope" else "inform"


def _arrows(drawn: DrawnGraph, act: str) -> Iterator[tuple[str, str]]:
    """Where the chart goes from here, by caller state; a query is passed through to what is said after it."""
    if act in drawn.graph:
        yield "gives_details", _said(drawn, drawn.graph[act])
        return
    for branch, state in (("yes", "agrees"), ("no", "declines")):
        if branch in drawn.graph:
            yield state, _said(drawn, drawn.graph[branch])


def _said(drawn: DrawnGraph, node: str) -> str:
    if not node.startswith("query"):
        return node
    if node in drawn.graph:
        return drawn.graph[node]
    return next((drawn.graph[branch] for branch in drawn.branches if branch not in {"yes", "no"}), node)


def _after_query(drawn: DrawnGraph) -> set[str]:
    results = {drawn.graph[branch] for branch in drawn.branches if branch not in {"yes", "no", "done"}}
    return results | {target for node, target in drawn.graph.items() if node.startswith("query")}


def _main_line(drawn: DrawnGraph, start: str) -> Iterator[str]:
    node, seen = start, set[str]()
    while node and node not in seen:
        seen.add(node)
        yield node
        following = next((target for _, target in _arrows(drawn, node)), "")
        node = following


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
