"""Classify: who is calling, in what mood, doing what; and keep the turn as a precedent."""

from langgraph.runtime import Runtime

from cuecard.belief.types import top
from cuecard.blackboard import take_desk
from cuecard.context import Context
from cuecard.events import Believed
from cuecard.foresight import judge
from cuecard.learning import record_turns
from cuecard.predictors.types import TurnView
from cuecard.services import Services
from nodes.session import board_of
from nodes.state import SupervisorState


async def classify(state: SupervisorState, runtime: Runtime[Context], *, services: Services) -> SupervisorState:
    """Settle the belief: the responder's quick judgement, or one structured call where a model is configured."""
    board = await board_of(state, runtime, services)
    if board.turn < state["turn"]:
        # Another process took this turn: its desk came with the pass.
        take_desk(board, state["desk"])
        board.turn = state["turn"]
        board.committed = board.turn
        board.remember(TurnView(state["utterance"], board.desk.last_state, board.desk.last_action))
    board.belief = await judge(board, services, state["utterance"])
    belief = board.belief
    cohort, mood, now = top(belief.cohort), top(belief.mood), top(belief.state)
    board.log.emit(
        Believed(
            cohort=cohort.name,
            p_cohort=cohort.p,
            mood=mood.name.partition("/")[2],
            p_mood=mood.p,
            state=now.name,
            p_state=now.p,
            p_change=belief.p_change,
        )
    )
    await record_turns(board, services)
    return {}
