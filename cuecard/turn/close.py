"""Closes a turn: the desk moves on, the turn becomes history, and the books say what was said."""

from cuecard.blackboard import Board
from cuecard.events import SessionEnded, Spoke
from cuecard.predictors.types import TurnView
from cuecard.turn.speak import Said

_FINAL = {"close", "hand_over"}


def close_turn(board: Board, said: Said) -> None:
    """Book what was said and where the call stands now."""
    desk, live = board.desk, board.live
    action = board.kit.procedure.actions[said.action]
    state = live.belief.likely_state
    desk.repeats = desk.repeats + 1 if said.action == desk.last_action else 0
    desk.last_action, desk.last_state = said.action, state
    if said.action not in desk.done:
        desk.done.append(said.action)
    if action.outcome is not None and desk.outcome != "success" and _happened(action.kind, said, desk.writes):
        desk.outcome = action.outcome
    board.belief = live.belief if live.utterance else board.belief
    board.remember(
        TurnView(
            utterance=live.utterance,
            state=state,
            action=said.action,
            reply=said.text,
            source=said.sources[0] if said.sources else "",
            embedding=live.vector,
        )
    )
    board.log.emit(Spoke(text=said.text, action=said.action, model_ms=1000.0 * live.model_s))
    if action.kind in _FINAL:
        desk.ended = True
        board.log.emit(SessionEnded(outcome=desk.outcome, reason=f"{said.action} on {state}"))


def _happened(kind: str, said: Said, writes: dict[str, str]) -> bool:
    """A write counts once it is in the books, whatever was said about it; telling counts if there was what to tell."""
    return bool(writes) if kind == "write" else kind in _FINAL or not said.lacking
