"""Keeps every real turn as a precedent, off the turn's path and without a call to anything."""

import time
from typing import TYPE_CHECKING

from cuecard.blackboard import Board
from cuecard.events import NeedResolved
from cuecard.precedents import Precedent
from cuecard.predictors.counts import HORIZON, sure_of

if TYPE_CHECKING:
    from cuecard.services import Services


CAUGHT_UP = 4
"""Turns a pass makes good for when those before it were superseded, or their process died, before they kept theirs."""


async def record_turns(board: Board, services: "Services") -> None:
    """Queue the turns finished since the last time; they are written with others, and counted for the predictor."""
    if services.precedents is None or not board.turns:
        return
    # The turn under way may be the next one already; what is in the books ends with the one committed last.
    newest = board.committed
    oldest = max(board.recorded + 1, newest + 1 - min(CAUGHT_UP, len(board.turns)))
    board.recorded = newest
    if oldest <= newest:
        numbers = range(oldest, newest + 1)
        turns = [_precedent(board, number) for number in numbers]
        board.retaken.difference_update(numbers)
        await services.precedents.record(turns)
    if board.desk.ended:
        await services.precedents.set_outcome(board.tenant, board.session_id, board.desk.outcome or "ended")


def _precedent(board: Board, number: int) -> Precedent:
    """Turn `number` as it is kept. Who calls is told by the belief of now, which knows most."""
    procedure, last = board.kit.procedure, number == board.committed
    turns = board.turns[: len(board.turns) - (board.committed - number)]
    turn, caller = turns[-1], sure_of(board.belief)
    state = procedure.states.get(turn.state)
    return Precedent(
        tenant=board.tenant,
        session=board.session_id,
        turn=number,
        sop=procedure.name,
        sop_version=procedure.version,
        action=turn.action,
        at=time.time(),
        cohort=caller.cohort,
        mood=caller.mood,
        state=turn.state,
        source=turn.source,
        due=board.kit.prior.expect(board.view(), HORIZON).due if last else "",
        utterance=turn.utterance,
        reply=turn.reply,
        question=state is not None and state.asks,
        topic=_answered_by(board, number),
        embedding=turn.embedding,
        facts={name: value for name, value in board.desk.facts.items() if procedure.facts[name].personal},
        outcome=board.desk.outcome if last and board.desk.ended else "",
        instead=number in board.retaken,
    )


def _answered_by(board: Board, number: int) -> str:
    """The document that answered in this turn, "" for none: two questions that one document answers are one topic."""
    needs = (event for event in reversed(board.log.events) if isinstance(event, NeedResolved))
    found = next((need for need in needs if need.turn == number and need.dep in board.kit.rag_deps), None)
    # An item without an id of its own is named after the question, which is the caller's words.
    return "" if found is None or found.item_id.startswith(f"{found.dep}:") else found.item_id
