"""Passes of one session: the newest wins, and never runs beside one that is still unwinding."""

import asyncio
from typing import Any

from cuecard.context import Context
from cuecard.services import Services
from cuecard.settings import Settings
from nodes.trigger import LocalTrigger

UNWINDING_S = 0.2


class SlowToStop:
    """A graph that takes a while to unwind once it is cancelled."""

    def __init__(self) -> None:
        self.running = 0
        self.most_at_once = 0
        self.unwound: list[int] = []
        self.finished: list[int] = []

    async def ainvoke(self, payload: dict[str, Any], *_: Any, **__: Any) -> None:
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            await asyncio.sleep(1.0)
            self.finished.append(payload["turn"])
        except asyncio.CancelledError:
            await asyncio.sleep(UNWINDING_S)
            self.unwound.append(payload["turn"])
            raise
        finally:
            self.running -= 1


async def test_of_three_quick_turns_only_the_last_finishes_and_no_two_run_at_once(settings: Settings) -> None:
    graph = SlowToStop()
    trigger = LocalTrigger(graph, Services(settings, persist=False))
    for turn in (1, 2, 3):
        trigger.submit({"tenant": "a", "session_id": "s", "turn": turn}, Context())
        await asyncio.sleep(UNWINDING_S / 4.0)
    await trigger.settle("a", "s")
    assert graph.most_at_once == 1
    assert graph.unwound == [1], "the first was let finish its unwinding, the second had not begun"
    assert graph.finished == [3]


async def test_closing_lets_what_was_cancelled_before_unwind(settings: Settings) -> None:
    graph = SlowToStop()
    trigger = LocalTrigger(graph, Services(settings, persist=False))
    for turn in (1, 2):
        trigger.submit({"tenant": "a", "session_id": "s", "turn": turn}, Context())
        await asyncio.sleep(UNWINDING_S / 4.0)
    await trigger.aclose()
    assert (graph.unwound, graph.running) == ([1], 0)
