"""Respond: speak. Streams a model's words or an approved reply, with what lies ready or, if it must be, is fetched."""

from langgraph.runtime import Runtime

from cuecard.context import Context
from cuecard.services import Services
from cuecard.turn import close_turn, speak
from nodes.session import board_of, context_of
from nodes.state import Message, ResponderState


async def respond(state: ResponderState, runtime: Runtime[Context], *, services: Services) -> ResponderState:
    """Say the reply of the chosen step and book the turn; the desk it leaves is saved with the checkpoint."""
    board = await board_of(state, runtime, services)
    said = await speak(board, services, context_of(runtime), state["action"], state["tier"])
    close_turn(board, said)
    board.committed = board.turn
    new: list[Message] = [{"type": "ai", "content": said.text}]
    if state.get("utterance") and not spoken_in_messages(state):
        new.insert(0, {"type": "human", "content": state["utterance"], "id": board.turn_key})
    # All that makes this turn count is saved here and at once: a run cut off before leaves nothing behind.
    return {
        "messages": new,
        "turn": board.turn,
        "reply": said.text,
        "action": said.action,
        "desk": board.desk.to_json(),
        "stall_s": board.live.stall_s,
    }


def spoken_in_messages(state: ResponderState) -> bool:
    """Whether the caller's words came as a message, so that they are in the history already."""
    messages = state.get("messages") or []
    return bool(messages) and messages[-1]["type"] == "human"
