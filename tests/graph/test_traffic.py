"""Passes keep out of the way of turns, but not for ever."""

import asyncio

from cuecard.clock import run_virtual
from cuecard.traffic import PATIENCE_S, Traffic, elsewhere


async def waited_s(traffic: Traffic) -> float:
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    await traffic.quiet()
    return loop.time() - began_s


def test_a_pass_waits_until_the_first_word_is_out() -> None:
    async def scene() -> float:
        traffic = Traffic()
        turn = traffic.turn()
        asyncio.get_running_loop().call_later(0.01, turn.over)
        return await waited_s(traffic)

    assert round(run_virtual(scene()), 3) == 0.01


def test_a_turn_that_waits_for_its_model_holds_nobody_up() -> None:
    async def scene() -> tuple[float, float]:
        traffic = Traffic()
        turn = traffic.turn()
        with elsewhere():
            during_s = await waited_s(traffic)
        asyncio.get_running_loop().call_later(0.02, turn.over)
        return during_s, await waited_s(traffic)

    during_s, after_s = run_virtual(scene())
    assert during_s == 0.0
    assert round(after_s, 3) == 0.02


def test_patience_ends_and_other_passes_still_wait() -> None:
    async def scene() -> list[float]:
        traffic = Traffic()
        traffic.turn()
        return [*await asyncio.gather(waited_s(traffic), waited_s(traffic))]

    assert [round(one, 3) for one in run_virtual(scene())] == [PATIENCE_S, PATIENCE_S]


def test_a_turn_is_over_once_however_often_it_is_said() -> None:
    async def scene() -> float:
        traffic = Traffic()
        first, second = traffic.turn(), traffic.turn()
        first.over()
        first.over()
        asyncio.get_running_loop().call_later(0.03, second.over)
        return await waited_s(traffic)

    assert round(run_virtual(scene()), 3) == 0.03
