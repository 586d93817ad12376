"""A checkpointer in memory that keeps what a call needs: the newest few checkpoints of each thread."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.memory import InMemorySaver

KEPT = 4
"""The newest, and enough before it to take the last turn back when a platform's words for it turn out different."""


class LatestOnlySaver(InMemorySaver):
    """Flat memory over a long call: the stock saver keeps every version of every channel (11 MB in 200 turns)."""

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        saved = super().put(config, checkpoint, metadata, new_versions)
        thread, space = config["configurable"]["thread_id"], config["configurable"].get("checkpoint_ns", "")
        kept: dict[str, Any] = self.storage[thread][space]
        for old in sorted(kept)[:-KEPT]:
            del kept[old]
            self.writes.pop((thread, space, old), None)
        live = {
            (thread, space, channel, version)
            for held in kept.values()
            for channel, version in self.serde.loads_typed(held[0])["channel_versions"].items()
        }
        for key in [key for key in self.blobs if key[:2] == (thread, space) and key not in live]:
            del self.blobs[key]
        return saved
