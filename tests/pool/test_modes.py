"""The ways to choose, side by side on one pool."""

import math
from collections.abc import Sequence

import pytest

from cuecard.pool import ConfidenceGate, Cosine, CosineThenLlm, Glance, Item, KeyLookup, LlmRerank, Pool, Selection
from tests.pool.test_pool import passage, pool_of, unit


class Model:
    """A reranker that prefers the last candidate, and counts how often it is asked."""

    def __init__(self, order: Sequence[int] | None = None) -> None:
        self.asked: list[list[str]] = []
        self._order = order

    async def __call__(self, words: str, items: Sequence[Item]) -> Sequence[int]:
        self.asked.append([item.id for item in items])
        return self._order if self._order is not None else list(reversed(range(len(items))))


def pool() -> Pool:
    """Ten passages in a fan, no two of them near-duplicates."""
    return pool_of(*(passage(f"p{n}", unit(math.cos(0.35 * n), math.sin(0.35 * n))) for n in range(10)))


GLANCE = Glance("words", unit(1))


@pytest.mark.parametrize(
    "mode", [KeyLookup(), Cosine(), ConfidenceGate(), LlmRerank(Model()), LlmRerank(Model(), 8), CosineThenLlm(Model())]
)
async def test_every_way_takes_an_empty_pool_and_keeps_to_k(mode: Selection) -> None:
    assert await mode.select(Pool(dim=8), GLANCE) == []
    assert len(await mode.select(pool(), GLANCE)) <= 3


async def test_key_lookup_finds_what_was_asked_for_and_nothing_near_it() -> None:
    record = Item("policy:1", "policy", "the policy", args="A")
    wanted = Glance("words", unit(1), wants=(("policy", "A"), ("policy", "B")))
    assert [pick.item.id for pick in await KeyLookup().select(pool_of(record), wanted)] == ["policy:1"]


async def test_the_gate_opens_only_for_a_clear_winner() -> None:
    clear = pool_of(passage("near", unit(1)), passage("far", unit(0, 1)))
    unclear = pool_of(passage("a", unit(1, 0.5)), passage("b", unit(1, -0.5)))
    assert [pick.item.id for pick in await ConfidenceGate().select(clear, GLANCE)] == ["near"]
    assert await ConfidenceGate().select(unclear, GLANCE) == []


async def test_the_prefilter_shows_the_model_eight_and_the_full_rerank_shows_all() -> None:
    few, all_ = Model(), Model()
    await LlmRerank(few, 8).select(pool(), GLANCE)
    await LlmRerank(all_).select(pool(), GLANCE)
    assert len(few.asked[0]) == 8
    assert len(all_.asked[0]) == 10


async def test_the_default_asks_the_model_only_about_near_duplicates() -> None:
    model = Model()
    apart = pool_of(passage("a", unit(1)), passage("b", unit(1, 1)), passage("c", unit(0, 1)))
    await CosineThenLlm(model).select(apart, GLANCE)
    assert not model.asked
    alike = pool_of(passage("a", unit(1)), passage("b", unit(1, 0.4)))
    picks = await CosineThenLlm(model).select(alike, GLANCE)
    assert [pick.item.id for pick in picks] == ["b", "a"]


async def test_numbers_that_a_model_makes_up_are_ignored() -> None:
    alike = pool_of(passage("a", unit(1)), passage("b", unit(1, 0.4)))
    picks = await CosineThenLlm(Model([7, 1, 1, -3])).select(alike, GLANCE)
    assert [pick.item.id for pick in picks] == ["b", "a"]
