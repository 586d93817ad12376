"""Who may use the graph server: the gateway's keys, each a tenant's, where any are set.

LangGraph's server calls `authenticate` for every request, and the `on` handlers for what is touched. Its own loopback
(how a turn starts a pass) does not come through here.
"""

from typing import Any

from langgraph_sdk import Auth

from cuecard.server.keys import Keys, load_keys
from cuecard.settings import get_settings

auth = Auth()
_OWNER = "cuecard_tenant"
_keys: list[Keys] = []


def _known() -> Keys:
    """Read from the environment the first time somebody knocks."""
    if not _keys:
        _keys.append(load_keys(get_settings()))
    return _keys[0]


@auth.authenticate
async def authenticate(authorization: str | None, headers: dict[bytes, bytes] | None) -> Auth.types.MinimalUserDict:
    """The tenant of the key in `Authorization: Bearer` (or `x-api-key`, as LangGraph's SDK sends it); else 401."""
    sent = authorization or ""
    api_key = (headers or {}).get(b"x-api-key")
    if not sent and api_key is not None:
        sent = f"Bearer {api_key.decode('latin-1')}"
    tenant = _known().tenant_of(sent)
    if tenant is None:
        raise Auth.exceptions.HTTPException(
            status_code=401, detail="This key is nobody's. Send a key that is set here."
        )
    return {"identity": tenant}


@auth.on
async def owned(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, str] | bool:
    """Threads, runs and crons belong to the tenant that made them, and only that tenant finds them."""
    if not _known():
        return True
    metadata = value.setdefault("metadata", {})
    metadata[_OWNER] = ctx.user.identity
    return {_OWNER: ctx.user.identity}


@auth.on.assistants
async def shared(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> bool:
    """The two graphs are everybody's to run; making or changing assistants is for an open server only."""
    return not _known() or ctx.action in {"read", "search"}


@auth.on.store
async def own_namespace(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> bool:
    """Of the store a tenant sees its own sessions: ("cuecard", tenant, ...)."""
    if not _known():
        return True
    namespace = tuple(value.get("namespace") or ())
    return namespace[:2] == ("cuecard", ctx.user.identity)
