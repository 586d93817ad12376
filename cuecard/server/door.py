"""What every request passes first: who is it, is it too large, and does it come from where it may come from."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cuecard.server.errors import ApiError
from cuecard.server.keys import OPEN_TENANT, Keys

MAX_BODY_BYTES = 512 * 1024
"""A call's whole history fits ten times over."""
_OPEN_HOSTS = {"localhost", "127.0.0.1", "::1", "testserver"}


class Door:
    """Plain ASGI, since middleware that wraps responses would delay every piece of speech."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            if scope["path"].startswith("/v1"):
                scope.setdefault("state", {})["tenant"] = self._tenant(headers)
            await self._app(scope, _limited(headers, receive), sent)
        except ApiError as error:
            if started:
                raise
            await error.response()(scope, receive, send)

    def _tenant(self, headers: Headers) -> str:
        if not self._keys:
            # No key guards these calls: a page of another site, or one that renamed itself to us, must not reach them.
            host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
            if host not in _OPEN_HOSTS or headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
                raise ApiError(403, "Without API keys only this machine is served. Set CUECARD_API_KEYS=tenant:key.")
            return OPEN_TENANT
        tenant = self._keys.tenant_of(headers.get("authorization", ""))
        if tenant is None:
            raise ApiError(401, "Unknown or missing API key. Send `Authorization: Bearer KEY`.", code="invalid_api_key")
        return tenant


def _limited(headers: Headers, receive: Receive) -> Receive:
    too_large = ApiError(413, f"The body is larger than {MAX_BODY_BYTES} bytes.", code="request_too_large")
    declared = headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        raise too_large
    n_bytes = 0

    async def received() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > MAX_BODY_BYTES:
            raise too_large
        return message

    return received
