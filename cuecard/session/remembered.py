"""A saver that need not ask the database for what this process has just written or read."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    copy_checkpoint,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

KEPT_THREADS = 1000
"""Calls whose newest checkpoint stays in memory; a checkpoint of forty messages is some 20 kB."""


class Remembering(BaseCheckpointSaver[str]):
    """Mix it in before a saver. A turn asks twice for the newest checkpoint of its thread; neither waits for a disk.

    It holds while no other process writes the thread: for storage that one process has to itself, or, after
    `share_with_others`, inside `alone_with`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._newest: OrderedDict[str, CheckpointTuple] = OrderedDict()
        self._held: set[str] | None = None
        """Threads that nobody else writes now; None: no thread is ever written by others."""

    def share_with_others(self) -> None:
        self._held = set()

    @contextmanager
    def alone_with(self, thread_id: str) -> Iterator[None]:
        """While open, nobody else writes this thread: whoever opens it has seen to that."""
        assert self._held is not None
        self._held.add(thread_id)
        try:
            yield
        finally:
            self._held.discard(thread_id)
            self._forget(thread_id)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id = _thread(config)
        if get_checkpoint_id(config) or not _is_root(config):
            return await super().aget_tuple(config)
        found = self._newest.get(thread_id)
        if found is None:
            found = await super().aget_tuple(config)
            if found is not None:
                self._remember(thread_id, found)
        # A copy: whoever runs the graph writes into its channels.
        return None if found is None else found._replace(checkpoint=copy_checkpoint(found.checkpoint))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id = _thread(config)
        # Cut off in between, nobody can say which of the two is there.
        self._forget(thread_id)
        saved = await super().aput(config, checkpoint, metadata, new_versions)
        if _is_root(config):
            asked = config["configurable"]
            # Only what names it: the rest of a run's configuration would keep the whole run alive.
            names = {name: asked.get(name, "") for name in ("thread_id", "checkpoint_ns", "checkpoint_id")}
            parent: RunnableConfig | None = {"configurable": names} if names["checkpoint_id"] else None
            told = get_checkpoint_metadata(config, metadata)
            self._remember(thread_id, CheckpointTuple(saved, copy_checkpoint(checkpoint), told, parent, []))
        return saved

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._forget(_thread(config))
        await super().aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        self._forget(thread_id)
        await super().adelete_thread(thread_id)

    def _forget(self, thread_id: str) -> None:
        self._newest.pop(thread_id, None)

    def _remember(self, thread_id: str, newest: CheckpointTuple) -> None:
        if self._held is not None and thread_id not in self._held:
            return
        self._newest[thread_id] = newest
        self._newest.move_to_end(thread_id)
        while len(self._newest) > KEPT_THREADS:
            self._newest.popitem(last=False)


def _thread(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


def _is_root(config: RunnableConfig) -> bool:
    """Whether it is about the graph itself, and not about one inside it."""
    return not config["configurable"].get("checkpoint_ns")
