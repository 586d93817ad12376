"""The seam behind which every data source lies: one call in, records out."""

from collections.abc import Mapping
from typing import Protocol

from cuecard.errors import FetchError
from cuecard.prefetch.types import FetchCall, FetchResult


class TransientFetchError(FetchError):
    """It may work if asked again; reads are, writes are not."""


class JunkError(FetchError):
    """The source answered something that no record can be made of."""


class Fetcher(Protocol):
    """Gets what a declared dependency describes.

    It raises what it likes; the broker turns that into an outcome (`TransientFetchError` and `OSError` are tried
    again first). It may be cancelled at any await. It holds no session and keeps no result.
    """

    async def fetch(self, call: FetchCall) -> FetchResult: ...


Fetchers = Mapping[str, Fetcher]
"""By `Dependency.fetch.type`."""
