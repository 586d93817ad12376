"""A call's turns teach the next call's forecast."""

from cuecard.clock import run_virtual
from cuecard.predictors.counts import CountKey, Counts
from cuecard.session import Engine
from cuecard.settings import Settings

SOP = "insurance_renewal"


def test_what_was_due_is_kept_with_each_turn_and_counted(settings: Settings) -> None:
    async def call() -> tuple[str, Counts, Counts]:
        async with Engine.open(settings) as engine:
            session = await engine.session(SOP)
            await session.ask("hello, it's about my car insurance")
            await session.settle()
            first = session.board.turns[-1].action
            due = session.board.kit.prior.expect(session.board.view(), 3).due
            await session.ask("my policy number is 343705")
            await session.settle()
            precedents = engine.services.precedents
            assert precedents is not None
            await precedents.flush()
            keys = [CountKey(SOP, "action", 1, ("due", first, step)) for step in (due, "no_such_step")]
            told, nothing = await precedents.counts(session.board.tenant).read(keys)
            assert session.board.turns[-1].action in told
            return due, told, nothing

    due, told, nothing = run_virtual(call())
    assert due
    assert sum(told.values()) == 1.0
    assert nothing == {}
