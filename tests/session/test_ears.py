"""What counts as heard before the caller has finished."""

from types import SimpleNamespace
from typing import Any, cast

from cuecard.belief.facts import FactExtractor
from cuecard.blackboard import Board
from cuecard.ears import Hearing
from cuecard.policy import Desk
from cuecard.predictors.types import Vector
from cuecard.prefetch.types import FetchJob
from sops import load_procedure


class Noting:
    """A planner that sends nothing and notes the facts it was told."""

    def __init__(self) -> None:
        self.told: list[dict[str, str]] = []

    def plan(self, board: Board) -> list[Any]:
        return []

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        self.told.append(dict(facts))
        return []


def facts_heard(*pieces: str) -> list[dict[str, str]]:
    """The facts that fetches may use after each piece of one utterance about a card, without the empty ones."""
    noting = Noting()
    kit = SimpleNamespace(extractor=FactExtractor(load_procedure("card_activation")))
    board = SimpleNamespace(kit=kit, desk=Desk(last_action="verify_identity"), turn=2)
    services = SimpleNamespace(minds=SimpleNamespace(planner=lambda _: noting))
    hearing = Hearing(cast(Any, board), cast(Any, services))
    for piece in pieces:
        hearing.words(piece)
    return noting.told


def test_a_number_in_digits_counts_as_soon_as_it_is_heard() -> None:
    assert facts_heard("it ends in", "it ends in 6808") == [{"card_last4": "6808"}]


def test_a_number_spelled_out_counts_once_another_word_has_left_it_as_it_was() -> None:
    said = ["it", "ends", "in", "six", "eight", "oh", "eight", "and", "I", "was"]
    told = facts_heard(*(" ".join(said[:n]) for n in range(1, len(said) + 1)))
    assert told
    assert all(facts == {"card_last4": "6808"} for facts in told)
