"""Decide: which step of the procedure answers these words. A model is asked only where one is configured and needed."""

from langgraph.runtime import Runtime

from cuecard.context import Context
from cuecard.events import Decided
from cuecard.services import Services
from cuecard.settled import put_away
from cuecard.turn import learn_facts, route, verify
from nodes.session import board_of, context_of
from nodes.state import ResponderState


async def decide(state: ResponderState, runtime: Runtime[Context], *, services: Services) -> ResponderState:
    """Judge the words, take the facts out of them, check identity once it can be, and choose."""
    board = await board_of(state, runtime, services)
    if board.live.vector is not None:
        board.live.prior = board.belief
        board.live.belief = board.kit.classifier.judge(
            board.live.vector, last_action=board.desk.last_action or None, prior=board.belief, text=board.live.utterance
        )
        learn_facts(board, services.settings)
        await verify(board)
        put_away(board)
    decision = await route(board, services, context_of(runtime))
    state_now = board.live.belief.likely_state
    board.log.emit(
        Decided(
            action=decision.action,
            tier=decision.tier,
            reason=decision.reason,
            state=state_now,
            p_state=board.live.belief.state.get(state_now, 0.0),
        )
    )
    return {"action": decision.action, "tier": decision.tier}
