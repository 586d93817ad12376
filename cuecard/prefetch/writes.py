"""Writes: executed when the caller has confirmed, exactly once per idempotency key, or reported as in doubt.

A ledger notes the intention before the write leaves and the result after. A process that dies in between leaves an
intention without a result; whoever comes next must not guess, so it gets `in_doubt` and a person looks.
"""

import asyncio
from typing import Any

from cuecard.clock import Clock
from cuecard.errors import FetchRefused
from cuecard.prefetch.fetchers.base import Fetchers
from cuecard.prefetch.flight import items_of
from cuecard.prefetch.safety import forbidden
from cuecard.prefetch.types import (
    FetchCall,
    Fetched,
    FetchJob,
    FetchKey,
    FetchResult,
    Missing,
    Outcome,
    Record,
    canonical,
)
from cuecard.prefetch.write_ledger import MemoryWriteLedger, PostgresWriteLedger, SqliteWriteLedger, WriteLedger

__all__ = ["MemoryWriteLedger", "PostgresWriteLedger", "SqliteWriteLedger", "WriteLedger", "Writer"]


class Writer:
    """Executes writes; a second caller of the same key waits for the first and gets the same answer."""

    def __init__(self, fetchers: Fetchers, clock: Clock, ledger: WriteLedger) -> None:
        self._fetchers = fetchers
        self._clock = clock
        self._ledger = ledger
        self._under_way: dict[str, asyncio.Task[Outcome]] = {}

    async def execute(self, call: FetchCall, verified: bool) -> Outcome:
        """The outcome of the one write under this key. Cancelling the caller does not stop a write that has left."""
        if call.spec.effect != "write":
            return Missing(call.dep, "refused", "it is declared a read; fetch it instead")
        if not call.idempotency_key:
            return Missing(call.dep, "refused", "a write needs an idempotency key")
        why = forbidden(call.spec, verified)
        if why:
            return Missing(call.dep, "refused", why)
        task = self._under_way.get(call.idempotency_key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._write(call))
            self._under_way[call.idempotency_key] = task
            task.add_done_callback(lambda _: self._under_way.pop(call.idempotency_key or "", None))
        return await asyncio.shield(task)

    async def aclose(self) -> None:
        """Let every write that has left come home."""
        if self._under_way:
            await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _write(self, call: FetchCall) -> Outcome:
        key = call.idempotency_key
        assert key is not None
        noted = await self._ledger.claim(key, call.dep)
        if noted is not None:
            if noted.records is None:
                return Missing(call.dep, "in_doubt", "an earlier attempt left no result; it is not repeated")
            return self._fetched(call, noted.records, took_s=0.0)
        fetcher = self._fetchers.get(call.spec.fetch.type)
        if fetcher is None:
            await self._ledger.release(key)
            return Missing(call.dep, "refused", f"no fetcher for type {call.spec.fetch.type!r} is configured")
        started_s = self._clock.now()
        try:
            async with asyncio.timeout(call.spec.timeout_s):
                result = await fetcher.fetch(call)
        except FetchRefused as error:
            # A fetcher refuses before anything leaves it: a token that is not set, an argument that it lacks.
            await self._ledger.release(key)
            return Missing(call.dep, "refused", str(error))
        except TimeoutError:
            return Missing(call.dep, "in_doubt", f"no answer within {call.spec.timeout_s:g} s; it is not repeated")
        except Exception as error:  # noqa: BLE001 - foreign code; whether the write happened is unknown
            return Missing(call.dep, "in_doubt", f"{type(error).__name__}: {error}; it is not repeated")
        records = [{"text": record.text, "data": dict(record.data), "id": record.id} for record in result.records]
        await self._ledger.settle(key, records)
        return self._fetched(call, records, took_s=self._clock.now() - started_s)

    def _fetched(self, call: FetchCall, records: list[dict[str, Any]], took_s: float) -> Fetched:
        job = FetchJob(FetchKey("write", call.dep, canonical(call.args)), call, origin="live")
        result = FetchResult(tuple(Record(row["text"], row["data"], row["id"]) for row in records))
        return items_of(job, result, self._clock.now(), took_s)
