"""The saver that remembers tells the same as the database, and no more than it may."""

from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint

from cuecard.session import Engine
from cuecard.session.remembered import Remembering
from cuecard.session.storage import open_storage
from cuecard.settings import Settings
from nodes.trigger import responder_thread

THREAD: Any = {"configurable": {"thread_id": responder_thread("default", "the-call"), "checkpoint_ns": ""}}


def plain(found: CheckpointTuple) -> tuple[Any, ...]:
    return found.config, dict(found.checkpoint), found.metadata, found.parent_config, found.pending_writes


async def taken_turns(settings: Settings, engine: Engine) -> Remembering:
    session = await engine.session("insurance_renewal", session_id="the-call")
    for words in ("hello there", "policy 343705, born 8 January 1942"):
        await session.ask(words)
        await session.settle()
    saver = engine.responder.checkpointer
    assert isinstance(saver, Remembering)
    return saver


async def test_what_is_remembered_is_what_the_database_holds(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, openai_api_key=None, openai_base_url=None)
    async with Engine.open(settings) as engine, open_storage(settings, persist=True) as other:
        remembered = await (await taken_turns(settings, engine)).aget_tuple(THREAD)
        stored = await other.responder.aget_tuple(THREAD)
    assert remembered is not None
    assert stored is not None
    assert stored.checkpoint["channel_values"]["turn"] == 2
    assert plain(remembered) == plain(stored)


async def test_what_a_run_does_to_its_copy_is_not_remembered(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, openai_api_key=None, openai_base_url=None)
    async with Engine.open(settings) as engine:
        saver = await taken_turns(settings, engine)
        found = await saver.aget_tuple(THREAD)
        assert found is not None
        found.checkpoint["channel_values"]["turn"] = 99
        again = await saver.aget_tuple(THREAD)
    assert again is not None
    assert again.checkpoint["channel_values"]["turn"] == 2


async def test_where_others_write_nothing_is_remembered_beyond_the_turn(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    async with open_storage(settings, persist=True) as ours, open_storage(settings, persist=True) as others:
        assert isinstance(ours.responder, Remembering)
        ours.responder.share_with_others()
        first, second = empty_checkpoint(), empty_checkpoint()
        with ours.responder.alone_with(THREAD["configurable"]["thread_id"]):
            after: Any = await ours.responder.aput(THREAD, first, {"step": 0}, {})
            after["configurable"]["checkpoint_ns"] = ""
            await others.responder.aput(after, second, {"step": 1}, {})
            during = await ours.responder.aget_tuple(THREAD)
        later = await ours.responder.aget_tuple(THREAD)
    assert during is not None
    assert later is not None
    assert during.checkpoint["id"] == first["id"]
    assert later.checkpoint["id"] == second["id"]
