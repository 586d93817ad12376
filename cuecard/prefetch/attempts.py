"""One fetch from first attempt to records that can be ranked: retries after transient failures, then embedding."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import tenacity

from cuecard.clock import Clock
from cuecard.errors import FetchRefused
from cuecard.pool import pieces_of
from cuecard.prefetch.fetchers.base import Fetchers, JunkError, TransientFetchError
from cuecard.prefetch.flight import Work
from cuecard.prefetch.types import FetchCall, FetchResult, Record, Vector

RETRIES = 2
"""Further attempts of a read after a transient failure, all inside the dependency's own time-out."""
BACKOFF_S = 0.2
REMEMBERED = 512
"""Passages whose vectors are kept: the same few come back again and again."""

Embed = Callable[[Sequence[str]], Vector]


class Attempts:
    """Asks sources; holds no fetch, only the vectors of passages seen lately."""

    def __init__(self, fetchers: Fetchers, clock: Clock, rng: random.Random, embed: Embed | None) -> None:
        self._fetchers = fetchers
        self._clock = clock
        self._rng = rng
        self._embed = embed
        self._vectors: dict[str, Vector] = {}
        self._pieces: dict[str, Vector] = {}

    async def fetch(self, call: FetchCall, work: Work) -> FetchResult:
        """What the source answers, with a vector on every record. Raises what the last attempt raised."""
        fetcher = self._fetchers.get(call.spec.fetch.type)
        if fetcher is None:
            raise FetchRefused(call.dep, f"no fetcher for type {call.spec.fetch.type!r} is configured")
        try:
            result = await fetcher.fetch(call)
        except (TransientFetchError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            # Only a failure pays for the retry machinery.
            result = await self._again(fetcher.fetch, call, work)
        if not isinstance(result, FetchResult):
            raise JunkError(call.dep, f"the fetcher returned a {type(result).__name__}, not a FetchResult")
        if self._embed is not None and any(record.vector is None for record in result.records):
            result = await self._embedded(result, waited_for=not work.background)
        return result

    async def _again(self, fetch: Callable[[FetchCall], object], call: FetchCall, work: Work) -> FetchResult:
        def full_jitter(state: tenacity.RetryCallState) -> float:
            return self._rng.uniform(0.0, BACKOFF_S * 2.0**state.attempt_number)

        await self._clock.sleep(self._rng.uniform(0.0, BACKOFF_S))
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type((TransientFetchError, OSError)),
            stop=tenacity.stop_after_attempt(RETRIES),
            wait=full_jitter,
            sleep=self._clock.sleep,
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                work.attempts += 1
                answer = await fetch(call)  # type: ignore[misc]
        return answer  # type: ignore[no-any-return]

    async def _embedded(self, result: FetchResult, *, waited_for: bool) -> FetchResult:
        """The result with vectors on every record, for the pool to rank; off the loop, as it takes milliseconds.

        While a caller waits, sentences are not embedded: they would take longer than all the rest of it.
        """
        assert self._embed is not None
        wholes = {_embedded_text(record): record for record in result.records if record.vector is None}
        new = [text for text in wholes if text not in self._vectors]
        cut = {}
        if not waited_for:
            cut = {text: _sentences(record) for text, record in wholes.items() if text not in self._pieces}
        texts = [*new, *(piece for pieces in cut.values() for piece in pieces)]
        if texts:
            rows = iter(await asyncio.to_thread(self._embed, texts))
            for text in new:
                _remember(self._vectors, text, np.asarray(next(rows), np.float32))
            for text, pieces in cut.items():
                _remember(self._pieces, text, np.array([next(rows) for _ in pieces], np.float32))
        return FetchResult(tuple(self._with_vectors(record) for record in result.records))

    def _with_vectors(self, record: Record) -> Record:
        if record.vector is not None:
            return record
        text = _embedded_text(record)
        pieces = self._pieces.get(text)
        known = pieces is not None and len(pieces) > 0
        return replace(record, vector=self._vectors.get(text), pieces=pieces if known else None)


def _remember(vectors: dict[str, Vector], text: str, vector: Vector) -> None:
    while len(vectors) >= REMEMBERED:
        del vectors[next(iter(vectors))]
    vectors[text] = vector


def _sentences(record: Record) -> list[str]:
    """Of a passage, which has a title; a record is found by its key."""
    title = record.data.get("title")
    return pieces_of(str(title), record.text) if title else []


def _embedded_text(record: Record) -> str:
    """A passage is embedded with its title, as the corpus does it."""
    title = record.data.get("title")
    return f"{title}. {record.text}" if title else record.text
