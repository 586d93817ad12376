"""Hand off: let the supervisor begin its pass, and do not wait for it."""

from langgraph.runtime import Runtime

from cuecard.context import Context
from cuecard.services import Services
from nodes.session import board_of, context_of
from nodes.state import ResponderState
from nodes.trigger import trigger_of


async def handoff(state: ResponderState, runtime: Runtime[Context], *, services: Services) -> ResponderState:
    """Submit a pass for this turn, the last one too: it is kept as a precedent. Newer words supersede it."""
    board = await board_of(state, runtime, services)
    context = context_of(runtime)
    trigger_of(runtime, services).submit(
        {
            "tenant": board.tenant,
            "session_id": board.session_id,
            "procedure": context.procedure,
            "turn": board.turn,
            "utterance": board.live.utterance,
            "desk": board.desk.to_json(),
        },
        context,
    )
    return {}
