"""Recall: the few pooled items nearest to the words just said. No model is asked, and nothing is waited for."""

from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from cuecard.blackboard import Board, Live, restore, take_desk
from cuecard.context import Context
from cuecard.ears import ears
from cuecard.errors import UtteranceError
from cuecard.events import Heard, Picked
from cuecard.pool import context_query
from cuecard.predictors.types import TurnView
from cuecard.services import Services
from nodes.session import board_of, context_of
from nodes.state import Message, ResponderState


async def recall(state: ResponderState, runtime: Runtime[Context], *, services: Services) -> ResponderState:
    """Take the caller's words and lay out up to three items. An empty pool is fine: the reply stands alone."""
    board = await board_of(state, runtime, services)
    words, cut = clean(words_of(state), services.settings.max_utterance_chars)
    await catch_up(board, state, runtime.store)
    board.turn = board.log.turn = board.committed + 1
    board.live = Live(turn=board.turn, utterance=words, write=runtime.stream_writer)
    if not words:
        if board.turn > 1:
            raise UtteranceError("The caller's words are empty. Say something, or open the call with the first turn.")
        return {"utterance": ""}
    board.log.emit(Heard(text=words, final=True, cut=cut))
    heard = await ears(board, services).finish(words)
    board.live.vector = heard.vector
    picks = context_of(runtime).n_picks(services.settings)
    query = context_query(heard.vector, board.previous_vector)
    board.live.picks = board.pool.pick(query, picks, board.now_s, words=words)
    board.previous_vector = heard.vector
    shown = [
        {"id": pick.item.id, "dep": pick.item.dep, "kind": pick.item.kind, "cosine": round(pick.cosine, 3)}
        for pick in board.live.picks
    ]
    board.log.emit(Picked(items=shown))
    return {"utterance": words, "picks": shown}


async def catch_up(board: Board, state: ResponderState, store: BaseStore | None) -> None:
    """Bring the board to where the checkpoint stands; nothing to do while this process takes all the turns.

    Ahead of the board, another process took turns: its slice is read, and what it did not live to publish is told from
    the messages. Behind it, the last turns were taken back: they are forgotten here too.
    """
    saved = state.get("turn", 0)
    take_desk(board, state.get("desk"))
    if saved > board.committed:
        if store is not None:
            await restore(board, store)
        unpublished = exchanges(state.get("messages") or [])[-(saved - board.committed) :]
        for said, reply in unpublished if saved > board.committed else []:
            board.remember(TurnView(said, board.desk.last_state, board.desk.last_action, reply))
    elif saved < board.committed:
        del board.turns[max(0, len(board.turns) - (board.committed - saved)) :]
        board.retaken.update(range(saved + 1, board.committed + 1))
        board.recorded = min(board.recorded, saved)
    board.committed = saved


def exchanges(messages: list[Message]) -> list[tuple[str, str]]:
    """(caller's words, agent's reply) of each turn in the history; no words where the agent opened the call."""
    found, said = [], ""
    for message in messages:
        if message["type"] == "human":
            said = message["content"]
        elif message["type"] == "ai":
            found.append((said, message["content"]))
            said = ""
    return found


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
