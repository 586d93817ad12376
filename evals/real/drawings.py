"""Reads drawn procedures (star_sops.json) for the graph prior."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from cuecard.predictors.drawn import AnyPrior, DrawnGraph, DrawnPrior
from cuecard.predictors.graph import GraphPrior
from evals.real.sessions import DataError

_SHARED_BY = 3
"""Charts that must draw an act before it counts as everybody's."""


def read_drawings(path: Path) -> dict[str, DrawnGraph]:
    """Drawn procedures by name; DataError says what is wrong with the file."""
    if not path.is_file():
        raise DataError(f"{path}: no such file. --sops takes the drawn procedures (star_sops.json).")
    try:
        rows = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: not JSON ({error}).") from error
    return drawn_from(rows, path)


def drawn_from(rows: Any, path: Path) -> dict[str, DrawnGraph]:
    """Charts from data as `star_sops.json` holds it; `path` names it in errors."""
    try:
        closings = _shared_closings([row["replies"] for row in rows])
        return {
            row["sop"]: DrawnGraph(
                row["sop"],
                {**row["replies"], **_missing(closings, row["replies"])},
                row["graph"],
                tuple(row["api"]["inputs"]),
            )
            for row in rows
        }
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{path}: not a list of drawn procedures with sop, replies, graph and api ({error!r})."
        ) from error


def priors(drawings: dict[str, DrawnGraph]) -> dict[str, GraphPrior]:
    """One prior per procedure, and under "" one for turns before any was opened."""
    charts = {name: DrawnPrior(drawing) for name, drawing in drawings.items()}
    return {"": AnyPrior(list(charts.values())), **charts}


def _missing(closings: dict[str, str], replies: dict[str, str]) -> dict[str, str]:
    return {act: words for act, words in closings.items() if act not in replies}


def _shared_closings(charts: list[dict[str, str]]) -> dict[str, str]:
    """Goodbyes that several charts draw: an agent has them at hand in every call."""
    drawn_in = Counter(act for replies in charts for act in replies if "bye" in act)
    words = {act: replies[act] for replies in charts for act in replies}
    return {act: words[act] for act, n_charts in drawn_in.items() if n_charts >= _SHARED_BY}
