"""Listens for a session: unfinished words send fetches out, final words come with their embedding."""

from typing import TYPE_CHECKING

from cuecard.blackboard import Board
from cuecard.needs import ask_ahead, foresee_queries
from cuecard.predictors.types import Vector
from cuecard.prefetch.partials import PartialListener

if TYPE_CHECKING:
    from cuecard.services import Services


def ears(board: Board, services: "Services") -> PartialListener:
    """The session's listener, made the first time."""
    if board.listener is None:
        hearing = Hearing(board, services)
        board.listener = PartialListener(
            services.embedder.embed, services.clock, on_words=hearing.words, on_vector=hearing.meaning
        )
    return board.listener


class Hearing:
    """Sends out what the words so far allow. Facts in them are provisional: only the final words fill a slot."""

    def __init__(self, board: Board, services: "Services") -> None:
        self._board = board
        self._services = services
        self._planner = services.minds.planner(board)
        self._before: dict[str, str] = {}
        self._facts: dict[str, str] = {}

    def words(self, text: str) -> None:
        """A settled piece: the facts in it that will stay as they are."""
        board = self._board
        updates = board.kit.extractor.extract(text, last_action=board.desk.last_action or None, known=board.desk.facts)
        now = {update.name: update.value for update in updates}
        # A number spelled out grows with every word; one in digits is whole. What another word left alone is whole too.
        whole = any(letter.isdigit() for letter in text.rpartition(" ")[2])
        self._facts = {name: value for name, value in now.items() if whole or self._before.get(name) == value}
        self._before = now
        if self._facts:
            self._ask(text, None)

    def meaning(self, text: str, vector: Vector) -> None:
        """The same piece, once it is embedded: what its likely meaning needs."""
        foresee_queries(self._board, text, vector)
        self._ask(text, vector)

    def _ask(self, text: str, vector: Vector | None) -> None:
        board = self._board
        for job in self._planner.on_partial(board, text, vector, self._facts):
            self._services.in_background(ask_ahead(board, job, vector))
