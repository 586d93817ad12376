"""What gives way when a fetch lands in a pool that is full."""

import asyncio

from cuecard.blackboard import Board
from cuecard.clock import run_virtual
from cuecard.prefetch.jobs import Wish, job_for
from cuecard.prefetch.types import Item
from cuecard.session import Engine
from cuecard.settings import Settings

OPENING = "hello, it's policy 715250, I was born on the 28th of May 1968"


def landed_in_a_full_pool(settings: Settings, *deps: str) -> tuple[Board, set[str]]:
    """The board, and what lies in its pool once it is full of passages and these records have landed in turn."""

    async def call() -> tuple[Board, set[str]]:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session("insurance_renewal", session_id="full")
            await session.greet()
            await session.ask(OPENING)
            board = session.board
            board.pool.remove(lambda item: item.dep in deps)
            for n in range(board.pool.cap):
                board.pool.add(Item(id=f"passage {n}", dep="clauses", text=f"passage {n}"), board.now_s)
            for dep in deps:
                job = job_for(board.kit.procedure, dep, board.known(), Wish("forecast"))
                assert job is not None
                await board.kit.broker.request(job).wait()
                await asyncio.sleep(0)
            return board, {item.dep for item in board.pool.items}

    return run_virtual(call())


def test_records_that_land_one_after_another_push_out_passages_and_not_each_other(settings: Settings) -> None:
    board, there = landed_in_a_full_pool(settings, "vehicle", "payment_options", "discounts")
    assert {"vehicle", "payment_options", "discounts"} <= there
    assert len(board.pool) == board.pool.cap


def test_a_passage_is_worth_its_share_and_a_record_of_a_step_ahead_all_it_saves(settings: Settings) -> None:
    board, _ = landed_in_a_full_pool(settings, "vehicle")
    latency_s = {dep: spec.latency_s for dep, spec in board.kit.procedure.dependencies.items()}
    assert board.worth_s["vehicle"] == latency_s["vehicle"]
    assert 0.0 < board.worth_s["clauses"] < latency_s["clauses"] / 10
