"""Writes the datasets anew from recorded calls, labelled utterances, questions and pools of real calls.

`python -m evals.langsmith_sets.build next_action state query` takes seconds; `pool` plays calls and takes a minute.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import orjson

from cuecard.clock import run_virtual
from cuecard.session import Engine
from evals.classify.examples import read_examples, shipped_sets
from evals.experiments.shared.pools import snapshots
from evals.experiments.shared.recorded import Call, later
from evals.experiments.types import PROCEDURES, CannotRun
from evals.langsmith_sets.read import FOLDER
from evals.retrieve import CORPORA
from evals.retrieve.questions import path_of

CALLS_EACH = 12
POOL_SEED_BASE, POOL_CALLS = 20_000, 4
LOOK_BACK = 3
"""Turns of history in an example; what the counts look at."""
MOST_TEXT = 300

Rows = Iterator[tuple[str, dict[str, Any]]]
"""(file, example)"""


def _id(*parts: object) -> str:
    return str(uuid5(NAMESPACE_URL, "/".join(["cuecard", *map(str, parts)])))


def next_action() -> Rows:
    """Some later calls of each procedure, an example a turn; what was known then, and what the agent did next."""
    for sop in PROCEDURES:
        try:
            calls = later(sop)[:CALLS_EACH]
        except CannotRun:
            continue
        for call in calls:
            for index in range(len(call.views) - 1):
                yield sop, _next(call, index)


def _next(call: Call, index: int) -> dict[str, Any]:
    turn = call.turns[index]
    shown = call.views[max(0, index + 1 - LOOK_BACK) : index + 1]
    following = call.views[index + 1 : index + 4]
    return {
        "id": _id("next_action", call.sop, call.seed, index),
        "inputs": {
            "sop": call.sop,
            "turns": [
                {"utterance": one.utterance, "state": one.state, "action": one.action, "source": one.source}
                for one in shown
            ],
            **{name: turn[name] for name in ("facts", "verified", "done", "cohort", "mood")},
        },
        "reference_outputs": {
            "actions": [one.action for one in following],
            "sources": [one.source for one in following],
            "states": [one.state for one in following],
        },
        "metadata": {"caller": "agenda", "data": "simulated", "seed": call.seed, "turn": index + 1},
        "split": ["later"],
    }


def state() -> Rows:
    """The held-out labelled utterances, in the same shape as the rest."""
    for path in shipped_sets():
        for example in read_examples(path):
            yield (
                example.sop,
                {
                    "id": _id("state", example.sop, example.utterance, example.action or "", example.state),
                    "inputs": {"sop": example.sop, "utterance": example.utterance, "action": example.action or ""},
                    "reference_outputs": {"state": example.state},
                    "metadata": {"source": path.name, "data": "written by hand"},
                    "split": ["test"],
                },
            )


def query() -> Rows:
    """The retrieval questions, test split; the dev split stays where it is used."""
    for corpus in CORPORA:
        for line in path_of(corpus).read_bytes().splitlines():
            row = orjson.loads(line)
            if "test" in row["split"]:
                yield (
                    corpus,
                    {**row, "id": _id("query", corpus, row["id"]), "inputs": {**row["inputs"], "corpus": corpus}},
                )


def pool() -> Rows:
    """Turns in which a caller asked something, and as many in which nobody did, with the pool as it lay."""

    async def all_calls() -> list[tuple[str, dict[str, Any]]]:
        found = []
        async with Engine.open(persist=False) as engine:
            for sop in PROCEDURES:
                for seed in range(POOL_SEED_BASE, POOL_SEED_BASE + POOL_CALLS):
                    turns = [one for one in await snapshots(engine, sop, seed) if len(one.pool)]
                    asked = [one for one in turns if one.gold]
                    others = [one for one in turns if not one.gold][: max(1, len(asked))]
                    for one in (*asked, *others):
                        items = [
                            {"id": item.id, "dep": item.dep, "text": item.text[:MOST_TEXT]} for item in one.pool.items
                        ]
                        row = {
                            "id": _id("pool", sop, seed, one.turn),
                            "inputs": {"sop": sop, "words": one.words, "previous": one.previous, "items": items},
                            "reference_outputs": {"item_ids": list(one.gold)},
                            "metadata": {"caller": "agenda", "data": "simulated", "seed": seed, "turn": one.turn},
                            "split": ["test"],
                        }
                        found.append((sop, row))
        return found

    yield from run_virtual(all_calls())


BUILDERS: dict[str, Callable[[], Rows]] = {"next_action": next_action, "state": state, "query": query, "pool": pool}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=list(BUILDERS))
    for name in parser.parse_args().datasets:
        files: dict[str, dict[str, dict[str, Any]]] = {}
        for file, row in BUILDERS[name]():
            files.setdefault(file, {}).setdefault(row["id"], row)
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, rows in files.items():
            (folder / f"{file}.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows.values()))


if __name__ == "__main__":
    main()
