"""The best passages of a procedure's corpus for a query in words."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from cuecard.clock import Clock
from cuecard.prefetch.fetchers.table import Latencies
from cuecard.prefetch.types import FetchCall, FetchResult, Record, Vector
from sops.models import RagFetch


class CorpusIndex(Protocol):
    """A searchable corpus (`corpus.Index`): give it words or, when they are embedded already, their vector."""

    async def search(self, text: str | None = None, vector: Vector | None = None, k: int = 3) -> Sequence[Any]: ...


class RagFetcher:
    """Searches the corpus that a dependency names. `open_index` is called once per corpus, when it is first needed."""

    def __init__(self, open_index: Callable[[str], CorpusIndex], clock: Clock, rng: random.Random) -> None:
        self._open = open_index
        self._indexes: dict[str, CorpusIndex] = {}
        self._clock = clock
        self._latencies = Latencies(rng)

    async def fetch(self, call: FetchCall) -> FetchResult:
        source = call.spec.fetch
        assert isinstance(source, RagFetch)
        index = self._indexes.get(source.corpus)
        if index is None:
            index = self._indexes[source.corpus] = self._open(source.corpus)
        if source.simulate_latency:
            await self._clock.sleep(self._latencies.of(call))
        k = call.k or source.k
        if call.vector is None:
            hits = await index.search(text=call.query, k=k)
        else:
            hits = await index.search(vector=call.vector, k=k)
        return FetchResult(
            tuple(
                Record(
                    id=hit.doc_id,
                    text=hit.text,
                    data={"title": hit.title, "text": hit.text, "answer": hit.answer, "score": hit.score},
                    score=hit.score,
                )
                for hit in hits
            )
        )
