"""Recall: the few pooled items nearest to the words just said. No model is asked, and nothing is waited for."""

from langgraph.runtime import Runtime

from cuecard.blackboard import Live
from cuecard.context import Context
from cuecard.ears import ears
from cuecard.errors import UtteranceError
from cuecard.events import Heard, Picked
from cuecard.policy import Desk
from cuecard.pool import context_query
from cuecard.services import Services
from nodes.session import board_of, context_of
from nodes.state import ResponderState


async def recall(state: ResponderState, runtime: Runtime[Context], *, services: Services) -> ResponderState:
    """Take the caller's words and lay out up to three items. An empty pool is fine: the reply stands alone."""
    board = await board_of(state, runtime, services)
    words, cut = clean(words_of(state), services.settings.max_utterance_chars)
    board.desk = Desk.from_json(state.get("desk"))
    board.turn = board.log.turn = state.get("turn", 0) + 1
    board.live = Live(turn=board.turn, utterance=words, write=runtime.stream_writer)
    if not words:
        if board.turn > 1:
            raise UtteranceError("The caller's words are empty. Say something, or open the call with the first turn.")
        return {"utterance": "", "turn": board.turn}
    board.log.emit(Heard(text=words, final=True, cut=cut))
    heard = await ears(board, services).finish(words)
    board.live.vector = heard.vector
    picks = context_of(runtime).n_picks(services.settings)
    query = context_query(heard.vector, board.previous_vector)
    board.live.picks = board.pool.pick(query, picks, board.now_s)
    board.previous_vector = heard.vector
    board.log.emit(
        Picked(
            items=[
                {"id": pick.item.id, "dep": pick.item.dep, "kind": pick.item.kind, "cosine": round(pick.cosine, 3)}
                for pick in board.live.picks
            ]
        )
    )
    return {"utterance": words, "turn": board.turn}


def words_of(state: ResponderState) -> str:
    """The turn's words: `utterance` where given, else the last message if it is the caller's."""
    if state.get("utterance"):
        return state["utterance"]
    messages = state.get("messages") or []
    return messages[-1]["content"] if messages and messages[-1]["type"] == "human" else ""


def clean(words: str, limit: int) -> tuple[str, bool]:
    """Words without control characters, cut at `limit`; whether anything was cut."""
    printable = "".join(char if char.isprintable() else " " for char in words[: 2 * limit])
    plain = " ".join(printable.split())
    return plain[:limit], len(words) > limit
