"""Listens for a session: unfinished words send fetches out, final words come with their embedding."""

from typing import TYPE_CHECKING

from cuecard.blackboard import Board
from cuecard.needs import ask_ahead, foresee_queries
from cuecard.planning import Planner
from cuecard.predictors.types import Vector
from cuecard.prefetch.partials import PartialListener

if TYPE_CHECKING:
    from cuecard.services import Services


def ears(board: Board, services: "Services") -> PartialListener:
    """The session's listener, made the first time."""
    if board.listener is None:
        planner = services.minds.planner(board)
        board.listener = PartialListener(
            services.embedder.embed,
            services.clock,
            on_words=lambda words: _ask(board, services, planner, words, None),
            on_query=lambda words, vector: _ask(board, services, planner, words, vector),
            on_vector=lambda words, vector: foresee_queries(board, words, vector),
        )
    return board.listener


def _ask(board: Board, services: "Services", planner: Planner, words: str, vector: Vector | None) -> None:
    """Send out what the words so far allow. Facts in them are provisional: only the final words fill a slot."""
    updates = board.kit.extractor.extract(words, last_action=board.desk.last_action or None, known=board.desk.facts)
    facts = {update.name: update.value for update in updates}
    if vector is None and not facts:
        return
    for job in planner.on_partial(board, words, vector, facts):
        services.in_background(ask_ahead(board, job))
