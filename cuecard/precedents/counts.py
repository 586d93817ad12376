"""The stored counts as the predictor reads them: one row per context, remembered for a moment."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, Engine

from cuecard.precedents import rows
from cuecard.precedents.contexts import TOPIC, key
from cuecard.precedents.engine import reading
from cuecard.precedents.packed import KINDS, LABEL_BITS, N_SLOTS, Entries, slot
from cuecard.precedents.tenants import Tenant, current_tenant
from cuecard.predictors.counts import HORIZON, Context, CountKey, Counts

REMEMBERED = 4096
"""Contexts kept in memory per tenant; a busy procedure has some hundreds."""
STALE_S = 5.0
"""After this long a remembered row is read again, in case another process has counted. Our own writes show at once."""

FAINT = 0.01
"""Decayed counts below this are not read: a label seen once, and not in the last 6.6 half-lives."""

_LABEL_MASK = (1 << LABEL_BITS) - 1
_SLOT_STARTS = np.arange(N_SLOTS + 1, dtype=np.uint32) << LABEL_BITS
_FIRST_TOPIC_SLOT = KINDS.index(TOPIC) * HORIZON
_NEVER = float("-inf")


_Place = tuple[str, Context]
"""A procedure and one of its contexts, by their names."""


class _Row(NamedTuple):
    number: int | None
    """Key of the stored row; None while a name in the context has never been seen."""
    slots: Sequence[Counts]
    """Decayed counts by label, one mapping per slot."""
    read_at: float


class StoredCounts:
    """One tenant's `CountSource`. A prediction costs as many row reads as it has contexts, whatever the history."""

    def __init__(
        self,
        engine: Engine,
        tenant_name: str,
        now: Callable[[], float],
        remembered: int = REMEMBERED,
        *,
        inline: bool = False,
    ) -> None:
        """`inline` reads on the calling thread: faster for a local file, but a locked one would hold the event loop."""
        self._engine = engine
        self._tenant_name = tenant_name
        self._tenant: Tenant | None = None
        self._looked_at = _NEVER
        self._now = now
        self._remembered = remembered
        self._rows: OrderedDict[_Place, _Row] = OrderedDict()
        self._places: dict[int, _Place] = {}
        self._inline = inline

    async def read(self, keys: Sequence[CountKey]) -> Sequence[Counts]:
        """Decayed counts per key, in order; {} for what was never seen."""
        now = self._now()
        found: dict[_Place, _Row] = {}
        missing: list[_Place] = []
        for place in dict.fromkeys((wanted.sop, wanted.context) for wanted in keys):
            row = self._rows.get(place)
            if row is None or now - row.read_at > STALE_S:
                missing.append(place)
            else:
                found[place] = row
        if missing and self._inline:
            found.update(self._fetch(missing, now))
        elif missing:
            found.update(await asyncio.get_running_loop().run_in_executor(None, self._fetch, missing, now))
        for place in missing:
            self._remember(place, found[place])
        return [found[wanted.sop, wanted.context].slots[slot(wanted.kind, wanted.offset)] for wanted in keys]

    def changed(self, numbers: Iterable[int]) -> None:
        """Forget rows that this process has just written, and those whose names may have been new to it."""
        for number in numbers:
            if (place := self._places.get(number)) is not None:
                self._rows.pop(place, None)
        for place in [place for place, row in self._rows.items() if row.number is None]:
            del self._rows[place]
        self._looked_at = _NEVER

    def reset(self) -> None:
        """Forget everything, the tenant included."""
        self._rows.clear()
        self._places.clear()
        self._tenant = None
        self._looked_at = _NEVER

    def _remember(self, place: _Place, row: _Row) -> None:
        if self._remembered == 0:
            return
        self._rows[place] = row
        if row.number is not None:
            self._places[row.number] = place
        while len(self._rows) > self._remembered:
            _, dropped = self._rows.popitem(last=False)
            if dropped.number is not None:
                self._places.pop(dropped.number, None)

    def _fetch(self, places: Collection[_Place], now: float) -> dict[_Place, _Row]:
        with reading(self._engine) as connection:
            tenant = self._current_tenant(connection, now)
            if tenant is None:
                return {place: _Row(None, _EMPTY, now) for place in places}
            numbers = {place: _number(tenant, place) for place in places}
            stored = rows.read(connection, tenant.id, [number for number in numbers.values() if number is not None])
            found: dict[_Place, _Row] = {}
            for place, number in numbers.items():
                entries = None if number is None else stored.get(number)
                slots = _EMPTY if entries is None else _decode(entries, tenant)
                found[place] = _Row(number, slots, now)
            return found

    def _current_tenant(self, connection: Connection, now: float) -> Tenant | None:
        """The tenant as of at most STALE_S ago; None while nothing is stored for it."""
        if now - self._looked_at <= STALE_S:
            return self._tenant
        self._tenant = current_tenant(connection, self._tenant, self._tenant_name)
        self._looked_at = now
        return self._tenant


_EMPTY: Sequence[Counts] = tuple({} for _ in range(N_SLOTS))


def _number(tenant: Tenant, place: _Place) -> int | None:
    """The key of a context given by names, or None when one of them was never seen."""
    labels = tenant.labels
    sop, (level, *values) = place
    sop_id = labels.find(sop)
    ids = [int(value) for value in values] if level == TOPIC else [labels.find(value, sop_id or 0) for value in values]
    if not sop_id or None in ids:
        return None
    return key(sop_id, (level, *map(str, ids)))


def _decode(entries: Entries, tenant: Tenant) -> Sequence[Counts]:
    """Counts worth reading, by slot; fainter ones would make rows longer with every year, and no prediction better."""
    weights = entries["weight"] * tenant.scale()
    kept = weights >= FAINT
    codes = entries["code"][kept]
    ids, values = (codes & _LABEL_MASK).tolist(), weights[kept].tolist()
    names = tenant.labels.names
    slots: list[Counts] = []
    for number, (start, end) in enumerate(pairwise(np.searchsorted(codes, _SLOT_STARTS).tolist())):
        labels = map(str, ids[start:end]) if number >= _FIRST_TOPIC_SLOT else map(names.get, ids[start:end])
        found = zip(labels, values[start:end], strict=True)
        # A name that another process has only just made is not known here yet.
        slots.append({label: value for label, value in found if label is not None})
    return slots
