"""Which of the fetched items may stand: what was fetched on half-heard words, or for somebody else, may not."""

import orjson

from cuecard.blackboard import Board
from cuecard.prefetch.types import Item


def stands(board: Board, item: Item) -> bool:
    """Whether the item is about this caller as far as is known now.

    Fetches leave on unfinished words, and turns are taken back: then the pool may hold what was asked with a value that
    in the end was not said, or a record of somebody who this caller has not proven to be.
    """
    spec = board.kit.procedure.dependencies.get(item.dep)
    if spec is None:
        return True
    if spec.verified and not board.desk.verified:
        return False
    # The record of a write tells of something done, whatever was said since.
    return spec.effect == "write" or not _said_otherwise(board, item)


def _said_otherwise(board: Board, item: Item) -> bool:
    facts = board.kit.procedure.facts
    args = orjson.loads(item.args) if item.args else {}
    return any(board.desk.facts.get(name) != value for name, value in args.items() if name in facts)


def put_away(board: Board) -> list[Item]:
    """Take out of the pool, and of what is laid out for this turn, everything that does not stand."""
    gone = board.pool.remove(lambda item: not stands(board, item))
    if gone:
        board.live.picks = [pick for pick in board.live.picks if stands(board, pick.item)]
    return gone
