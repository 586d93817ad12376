"""Plays simulated calls with nothing fetched early and keeps them turn by turn.

`python -m evals.experiments.shared.record PROCEDURE` writes the `calls` dataset anew. They are the precedents and the
held-out calls of every experiment on prediction. Labels of states are the classifier's, as a deployment's would be; who
called and what answers a question is the script's.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import orjson

from cuecard.clock import LoopClock, run_virtual
from cuecard.context import Context
from cuecard.ledger import Ledger
from cuecard.session import Engine, Session
from evals.callers import AgendaCaller, CallerTurn, draw_agenda, load_questions, load_wording
from evals.calls.play import Live, play
from sops.loader import find, load_procedure
from sops.tables import load_tables

FOLDER = Path(__file__).parents[2] / "datasets" / "calls"
SEED_BASE = 10_000
"""Far from the seeds that other benches play, so that nothing is tuned on these calls."""
N_TRAIN = 60
"""Of each procedure's recorded calls the first so many are the history; the rest are scored."""


async def record(engine: Engine, sop: str, seed: int) -> dict[str, Any]:
    """One call as an example in LangSmith's shape."""
    procedure = load_procedure(sop)
    wording = load_wording(procedure.name)
    rng = random.Random(f"{procedure.name}/{seed}")
    agenda = draw_agenda(procedure, load_tables(find(sop)), wording, load_questions(procedure.name), rng)
    caller = AgendaCaller(agenda, wording, rng)
    session = await engine.session(
        sop, session_id=f"recorded-{seed}", context=Context(tenant="recorded", prefetch="none")
    )
    turns: list[dict[str, Any]] = []

    def watch(book: Ledger, turn: CallerTurn | None) -> None:
        turns.append(_turn(session, book, turn))

    played = await play(session, Live(caller), LoopClock(), watch)
    last_kind = procedure.actions[played.actions[-1]].kind
    nth = seed - SEED_BASE
    return {
        "id": str(uuid5(NAMESPACE_URL, f"cuecard/calls/{procedure.name}/{seed}")),
        "inputs": {"sop": procedure.name, "seed": seed, "words": [turn.words for turn in played.turns]},
        "reference_outputs": {
            "outcome": played.outcome,
            "reached": caller.reached(played.outcome, last_kind),
            "turns": turns,
        },
        "metadata": {
            "cohort": agenda.cohort,
            "mood": agenda.mood,
            "goal": agenda.goal,
            "caller": "agenda",
            "data": "simulated",
        },
        "split": ["history" if nth < N_TRAIN else "later"],
    }


def _turn(session: Session, book: Ledger, turn: CallerTurn | None) -> dict[str, Any]:
    """The agent's turn just finished, and what was known after it."""
    view = session.board.view()
    said, needs = view.turns[-1], book.turns[-1].needs if book.turns else []
    return {
        "words": said.utterance,
        "act": turn.act if turn is not None else "",
        "gold": list(turn.gold) if turn is not None else [],
        "state": said.state,
        "action": said.action,
        "source": said.source,
        "reply": said.reply,
        "needs": [need.dep for need in needs],
        "facts": sorted(view.facts),
        "verified": view.verified,
        "done": sorted(view.done),
        "cohort": view.belief.likely_cohort,
        "mood": view.belief.likely_mood,
        "p_change": round(view.belief.p_change, 3),
    }


def record_all(sop: str, seeds: range) -> Iterator[dict[str, Any]]:
    async def calls() -> list[dict[str, Any]]:
        found = []
        async with Engine.open(persist=False) as engine:
            for seed in seeds:
                found.append(await record(engine, sop, seed))
                sys.stderr.write(f"{sop} {len(found)}/{len(seeds)}\n")
        return found

    yield from run_virtual(calls())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sop")
    parser.add_argument("--n", type=int, default=100)
    args = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = record_all(args.sop, range(SEED_BASE, SEED_BASE + args.n))
    path = FOLDER / f"{load_procedure(args.sop).name}.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


if __name__ == "__main__":
    main()
