"""One HTTP request as a data source, its slots filled with percent-encoded arguments."""

import hashlib
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

import httpx

from cuecard.errors import FetchError, FetchRefused
from cuecard.prefetch.fetchers.base import JunkError, TransientFetchError
from cuecard.prefetch.fetchers.callable import result_of
from cuecard.prefetch.slots import fill, slots
from cuecard.prefetch.types import FetchCall, FetchResult
from sops.models import HttpFetch

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that may be another one a moment later."""
MOST_BYTES = 1_000_000
"""A longer answer is no item for a prompt; reading it would only hold the loop."""

Client = Callable[[], httpx.AsyncClient]


class HttpFetcher:
    """GET for reads; other methods only for dependencies declared writes, or declared reads all the same.

    Redirects are not followed: where a caller's words end up is decided by the declaration alone.
    """

    def __init__(self, client: Client = httpx.AsyncClient) -> None:
        self._make = client
        self._client: httpx.AsyncClient | None = None

    async def fetch(self, call: FetchCall) -> FetchResult:
        source = call.spec.fetch
        assert isinstance(source, HttpFetch)
        values = {**call.args, "query": call.query}
        url = self._filled(call, source.url, values, encode=partial(path_part, call.dep))
        params = self._all_filled(call, source.params, values)
        body = self._all_filled(call, source.body, values)
        headers = auth_header(call.dep, source.auth_env) | idempotency_header(call)
        response = await self._send(call, source.method, url, params, body, headers)
        return result_of(call.dep, call.spec, answer_of(call.dep, response))

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def _all_filled(self, call: FetchCall, templates: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
        """Every template filled; what a broad fetch leaves empty is not sent."""
        filled = {name: self._filled(call, text, values) for name, text in templates.items()}
        return {name: text for name, text in filled.items() if text}

    def _filled(
        self, call: FetchCall, template: str, values: Mapping[str, str], encode: Callable[[str], str] = str
    ) -> str:
        filled = fill(template, values, encode, call.spec.partial)
        if filled is None:
            lacking = [name for name in slots(template) if not values.get(name)]
            raise FetchRefused(call.dep, f"{call.dep}: {template!r} needs {', '.join(lacking)}, which is not known")
        return filled

    async def _send(
        self,
        call: FetchCall,
        method: str,
        url: str,
        params: Mapping[str, str],
        body: Mapping[str, str],
        headers: Mapping[str, str],
    ) -> httpx.Response:
        if self._client is None:
            self._client = self._make()
        try:
            response = await self._client.request(
                method, url, params=dict(params) or None, json=dict(body) or None, headers=dict(headers), timeout=None
            )
        except httpx.TransportError as error:
            raise TransientFetchError(call.dep, f"{call.dep}: {type(error).__name__}: {error}") from error
        check_status(call.dep, response)
        return response


def auth_header(dep: str, variable: str | None) -> dict[str, str]:
    """The bearer token from the environment; a declared one that is not set is a clear error, not an open call."""
    if variable is None:
        return {}
    token = os.environ.get(variable)
    if not token:
        raise FetchRefused(dep, f"{dep}: set the environment variable {variable} to its access token")
    return {"Authorization": f"Bearer {token}"}


def idempotency_header(call: FetchCall) -> dict[str, str]:
    """A write's key as a header: its hash, since the key holds a caller's facts and any letters they came in."""
    if call.idempotency_key is None:
        return {}
    return {"Idempotency-Key": hashlib.sha256(call.idempotency_key.encode()).hexdigest()}


def check_status(dep: str, response: httpx.Response) -> None:
    """Pass good answers and "not found"; raise for the rest."""
    if response.status_code in AGAIN:
        raise TransientFetchError(dep, f"{dep}: status {response.status_code}")
    if response.status_code != httpx.codes.NOT_FOUND and not response.is_success:
        raise FetchError(dep, f"{dep}: status {response.status_code}")


def answer_of(dep: str, response: httpx.Response) -> Any:
    """The body as JSON or text; None where there was nothing to find."""
    if response.status_code in (httpx.codes.NOT_FOUND, httpx.codes.NO_CONTENT):
        return None
    if len(response.content) > MOST_BYTES:
        raise JunkError(dep, f"{dep}: an answer of {len(response.content)} bytes is too long")
    if "json" in response.headers.get("content-type", ""):
        try:
            return response.json()
        except ValueError as error:
            raise JunkError(dep, f"{dep}: the answer says it is JSON and is not") from error
    return response.text


def path_part(dep: str, value: str) -> str:
    """A value as one part of a path. Percent-encoding leaves dots alone, and ".." would climb out of its place."""
    if value.strip() in {".", ".."}:
        raise FetchRefused(dep, f"{dep}: {value!r} is no part of an address")
    return quote(value, safe="")
