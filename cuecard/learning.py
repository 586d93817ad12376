"""Keeps every real turn as a precedent, off the turn's path and without a call to anything."""

import time
from typing import TYPE_CHECKING

from cuecard.blackboard import Board
from cuecard.events import NeedResolved
from cuecard.precedents import Precedent
from cuecard.predictors.counts import HORIZON, sure_of

if TYPE_CHECKING:
    from cuecard.services import Services


async def record_turn(board: Board, services: "Services") -> None:
    """Queue the turn just finished; it is written with others, and counted for the predictor."""
    if services.precedents is None or not board.turns:
        return
    turn, belief, procedure = board.turns[-1], board.belief, board.kit.procedure
    personal = {name: value for name, value in board.desk.facts.items() if procedure.facts[name].personal}
    state = procedure.states.get(turn.state)
    caller = sure_of(belief)
    await services.precedents.record(
        [
            Precedent(
                tenant=board.tenant,
                session=board.session_id,
                turn=board.turn,
                sop=procedure.name,
                sop_version=procedure.version,
                action=turn.action,
                at=time.time(),
                cohort=caller.cohort,
                mood=caller.mood,
                state=turn.state,
                source=turn.source,
                due=board.kit.prior.expect(board.view(), HORIZON).due,
                utterance=turn.utterance,
                reply=turn.reply,
                question=state is not None and state.asks,
                topic=_answered_by(board),
                embedding=turn.embedding,
                facts=personal,
                outcome=board.desk.outcome if board.desk.ended else "",
            )
        ]
    )
    if board.desk.ended:
        await services.precedents.set_outcome(board.tenant, board.session_id, board.desk.outcome or "ended")


def _answered_by(board: Board) -> str:
    """The document that answered in this turn, "" for none: two questions that one document answers are one topic."""
    needs = (event for event in reversed(board.log.events) if isinstance(event, NeedResolved))
    found = next((need for need in needs if need.turn == board.turn and need.dep in board.kit.rag_deps), None)
    # An item without an id of its own is named after the question, which is the caller's words.
    return "" if found is None or found.item_id.startswith(f"{found.dep}:") else found.item_id
