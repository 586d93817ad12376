"""Pools as real calls fill them: what lay ready when a caller had spoken, and which documents would have answered."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cuecard.blackboard import Board
from cuecard.clock import LoopClock
from cuecard.context import Context
from cuecard.events import Event, NeedResolved, Picked
from cuecard.pool import Pool, Vector
from cuecard.session import Engine
from evals.callers import AgendaCaller, CallerTurn, Cue, draw_agenda, load_questions, load_wording
from evals.calls.play import Live, play
from sops.loader import find, load_procedure
from sops.tables import load_tables

TENANT = "pools"


@dataclass(slots=True)
class Snapshot:
    """One turn at the moment of recall."""

    turn: int
    words: str
    vector: Vector
    previous: str
    previous_vector: Vector | None
    pool: Pool
    now_s: float
    gold: tuple[str, ...]
    """Documents that answer what was just asked; empty where nothing was asked."""
    wants: tuple[tuple[str, str], ...] = ()
    """Keys of what the turn then needed, for exact look-up."""
    used_document: bool = False
    """The turn spoke from a document of the corpus."""

    @property
    def gold_items(self) -> set[str]:
        """Items of the pool that hold a document that answers."""
        return {item.id for item in self.pool.items if item.data.get("doc_id", item.id) in self.gold}


class _Overhears:
    """The caller, with somebody who writes down what is meant by each utterance."""

    def __init__(self, inner: Live) -> None:
        self._inner = inner
        self.turn: CallerTurn | None = None

    def next(self, cue: Cue | None) -> CallerTurn | None:
        self.turn = self._inner.next(cue)
        return self.turn


async def snapshots(engine: Engine, sop: str, seed: int) -> list[Snapshot]:
    """All turns of one simulated call, played with working ahead switched on."""
    procedure = load_procedure(sop)
    wording = load_wording(procedure.name)
    rng = random.Random(f"{procedure.name}/{seed}")
    agenda = draw_agenda(procedure, load_tables(find(sop)), wording, load_questions(procedure.name), rng)
    speaker = _Overhears(Live(AgendaCaller(agenda, wording, rng)))
    found: list[Snapshot] = []

    def watch(board: Board) -> Callable[[Event], Any]:
        return lambda event: _note(board, speaker, found, event)

    session_id = f"pool-{procedure.name}-{seed}"
    session = await engine.session(sop, session_id=session_id, context=Context(tenant=TENANT))
    session.log.listeners.append(watch(session.board))
    session.board.kit.broker.forget_results()
    await play(session, speaker, LoopClock())
    return found


def _note(board: Board, speaker: _Overhears, found: list[Snapshot], event: Event) -> None:
    match event:
        case Picked() if board.live.vector is not None:
            before = found[-1] if found else None
            found.append(
                Snapshot(
                    turn=board.turn,
                    words=board.live.utterance,
                    vector=board.live.vector,
                    previous=before.words if before else "",
                    previous_vector=before.vector if before else None,
                    pool=Pool.from_json(board.pool.to_json(board.now_s), board.now_s),
                    now_s=board.now_s,
                    gold=speaker.turn.gold if speaker.turn is not None else (),
                )
            )
        case NeedResolved() if found and found[-1].turn == event.turn and event.how != "write":
            snapshot = found[-1]
            snapshot.wants = (*snapshot.wants, (event.dep, event.key))
            snapshot.used_document = snapshot.used_document or (event.dep in board.kit.rag_deps and bool(event.item_id))
