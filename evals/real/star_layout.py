"""STAR's original layout (RasaHQ/STAR: dialogues/*.json and tasks/*/*.json) in the session format."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from evals.real.sessions import BadLine, DataError, Loaded, Session


def read_star(path: Path) -> Loaded:
    """All dialogues under `path`; files that cannot be read are bad "lines", numbered in order of their names."""
    folder = path / "dialogues" if (path / "dialogues").is_dir() else path
    files = sorted(folder.glob("*.json"))
    if not files:
        raise DataError(f"{path}: no dialogues/*.json there. Give the folder of a checkout of RasaHQ/STAR.")
    sessions: list[Session] = []
    bad: list[BadLine] = []
    for number, file in enumerate(files, start=1):
        try:
            sessions.append(_session(orjson.loads(file.read_bytes())))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            bad.append(BadLine(number, f"{file.name}: {type(error).__name__}: {error}"))
    return Loaded(sessions, bad)


def read_star_drawings(path: Path) -> list[dict[str, Any]]:
    """The drawn procedures (tasks/NAME/NAME.json) as `star_sops.json` holds them."""
    found = []
    for file in sorted((path / "tasks").glob("*/*.json")):
        if file.stem == file.parent.name:
            task = orjson.loads(file.read_bytes())
            found.append({"sop": task["task"], "replies": task["replies"], "graph": task["graph"], "api": _NO_API})
    return found


_NO_API: dict[str, list[str]] = {"inputs": [], "required": [], "outputs": []}


def _session(dialogue: dict[str, Any]) -> Session:
    tasks = [part["Task"] for part in dialogue["Scenario"]["WizardCapabilities"]]
    return Session.model_validate(
        {
            "session_id": f"star-{dialogue['DialogueID']}",
            "dataset": "star",
            "sop": tasks,
            "domain": dialogue["Scenario"].get("Domains") or [],
            "outcome": str(dialogue.get("CompletionLevel", "")),
            "turns": list(_turns(dialogue["Events"], tasks)),
        }
    )


def _turns(events: list[dict[str, Any]], tasks: list[str]) -> Iterator[dict[str, Any]]:
    """User and wizard events; a query is followed by the knowledge base's own event with what it found."""
    task = tasks[0] if len(tasks) == 1 else None
    query: dict[str, Any] | None = None
    for event in events:
        agent, action = event.get("Agent"), event.get("Action")
        clock = {"t": event["UnixTime"]} if "UnixTime" in event else {}
        if agent == "User" and action in {"utter", "complete"}:
            done = {"state": ["complete"]} if action == "complete" else {}
            yield {"speaker": "user", "text": event.get("Text", ""), **done, **clock}
        elif agent == "Wizard" and action == "query":
            query = event
        elif agent == "KnowledgeBase" and query is not None:
            source = query.get("API") or event.get("API") or ""
            task = source or task
            yield {
                "speaker": "agent",
                "action": query.get("ActionLabel") or "query",
                "query": {"source": source, "args": _args(query.get("Constraints"))},
                "result": event.get("Item"),
                "n_results": int(event.get("TotalItems", -1)),
                "task": task,
                **clock,
            }
            query = None
        elif agent == "Wizard" and action in {"utter", "pick_suggestion"}:
            label = event.get("ActionLabel") or "freeform"
            yield {"speaker": "agent", "action": label, "text": event.get("Text", ""), "task": task, **clock}


def _args(constraints: object) -> dict[str, Any]:
    """STAR writes arguments as a list of one-entry objects."""
    if isinstance(constraints, dict):
        return constraints
    parts = constraints if isinstance(constraints, list) else []
    return {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
