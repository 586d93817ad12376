"""A stand-in back office: rows of a table after a simulated delay, for demos and tests."""

import math
import random
from collections.abc import Mapping
from typing import Any

from cuecard.clock import Clock
from cuecard.prefetch.fetchers.text import summary_of
from cuecard.prefetch.types import FetchCall, FetchResult, Record, canonical
from sops.models import Simulated

Row = Mapping[str, Any]
Tables = Mapping[str, Mapping[str, Row]]
"""Table to key to row; a table that is one record has the single key ""."""

SPREAD = 0.2
"""Log-normal spread of simulated latencies around the declared one: most within a third of it."""


class Latencies:
    """Simulated latencies around the declared ones, never more than twice them.

    The same call takes the same time whoever makes it and whenever: two policies compared on one script differ
    by what they fetch, not by luck.
    """

    def __init__(self, rng: random.Random) -> None:
        self._salt = rng.getrandbits(64)

    def of(self, call: FetchCall) -> float:
        dice = random.Random(f"{self._salt}:{call.dep}:{canonical(call.args, call.query)}")
        return min(call.spec.latency_s * math.exp(dice.gauss(0.0, SPREAD)), 2.0 * call.spec.latency_s)


def key_of(value: str) -> str:
    """How keys compare: without spaces and case, as a caller may say them either way."""
    return "".join(value.split()).casefold()


class TableFetcher:
    """Answers from tables in memory; a row that doesn't exist is an empty answer, not an error."""

    def __init__(self, tables: Tables, clock: Clock, rng: random.Random) -> None:
        self._tables = {name: {key_of(key): row for key, row in rows.items()} for name, rows in tables.items()}
        self._clock = clock
        self._latencies = Latencies(rng)

    async def fetch(self, call: FetchCall) -> FetchResult:
        source = call.spec.fetch
        assert isinstance(source, Simulated)
        await self._clock.sleep(self._latencies.of(call))
        rows = self._tables.get(source.table, {})
        row = rows.get(key_of(str(call.args.get(source.key, ""))) if source.key else "")
        if row is None and source.key is None and rows:
            row = next(iter(rows.values()))
        if row is None:
            return FetchResult()
        return FetchResult((Record(text=summary_of(call.spec, row), data=dict(row)),))
