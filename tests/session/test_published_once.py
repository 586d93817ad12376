"""What lands together is written to the slice once."""

import asyncio
from typing import Any

from langgraph.store.memory import InMemoryStore

from cuecard.clock import run_virtual
from cuecard.prefetch.types import Item
from cuecard.session import Engine
from cuecard.settings import Settings


class CountingStore(InMemoryStore):
    """Remembers how many items each written slice held."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    async def aput(self, namespace: tuple[str, ...], key: str, value: Any, *args: Any, **rest: Any) -> None:
        self.sizes.append(len(value["pool"]["items"]))
        await super().aput(namespace, key, value, *args, **rest)


def test_the_passages_of_one_search_are_published_together_and_later_ones_again(settings: Settings) -> None:
    store = CountingStore()

    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            board = (await engine.session("insurance_renewal")).board
            board.published_turn = 1
            for number in range(25):
                engine.services._landed(board, store, Item(id=f"p{number}", dep="clauses", text=f"passage {number}"))
            await asyncio.sleep(0.1)
            engine.services._landed(board, store, Item(id="late", dep="clauses", text="one more"))
            await asyncio.sleep(0.1)

    run_virtual(call())
    assert store.sizes == [25, 26]
