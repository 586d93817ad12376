"""Why a need was there in time or was not, in words for the ledger."""

from cuecard.blackboard import Board
from cuecard.prefetch.types import Item


def why_not_early(board: Board, dep: str) -> str:
    """What kept a need from being fetched before this turn."""
    forecast, procedure = board.forecast, board.kit.procedure
    spec = procedure.dependencies[dep]
    if board.context.prefetch == "none":
        return "nothing is fetched early"
    just_told = [fact for fact in spec.requires if fact in board.live.told]
    if just_told:
        return f"{', '.join(just_told)} was only just told"
    if spec.verified and procedure.verifying & board.live.told:
        return "who calls was only just proven"
    if not forecast.actions:
        return "no forecast had been made"
    wanting = [name for name, action in procedure.actions.items() if dep in action.needs]
    p = max((forecast.p_action_within(name) for name in wanting), default=0.0)
    return f"not fetched early: the last forecast gave it {p:.2f}"


def ago(board: Board, item: Item) -> str:
    """When the item was asked for, counted in turns."""
    turns = board.turn - item.asked_turn
    return "within this turn" if turns <= 0 else "one turn ago" if turns == 1 else f"{turns} turns ago"


def what_for(item: Item) -> str:
    """The step or the sign that asked for the item."""
    return item.for_action or {"partial": "words half heard", "fact": "a fact just told"}.get(item.origin, item.origin)
