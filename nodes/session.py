"""Which session a run belongs to, and its board."""

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from cuecard.blackboard import Board
from cuecard.context import Context
from cuecard.services import Services


def context_of(runtime: Runtime[Context]) -> Context:
    """The run's context; as a library without one, the defaults."""
    # As a library it may be missing, or a plain mapping.
    context: Any = runtime.context
    if isinstance(context, Mapping):
        context = Context(**context)
    elif context is None:
        context = Context()
    user = runtime.server_info.user if runtime.server_info is not None else None
    if user is not None and user.identity and user.identity != context.tenant:
        # On a guarded server the key says whose call it is, whatever the request says.
        context = context.model_copy(update={"tenant": user.identity})
    assert isinstance(context, Context)
    return context


def session_id_of(runtime: Runtime[Context]) -> str:
    context = context_of(runtime)
    if context.session_id:
        return context.session_id
    info = runtime.execution_info
    return (info.thread_id if info is not None else None) or "default"


async def board_of(state: Mapping[str, Any], runtime: Runtime[Context], services: Services) -> Board:
    """The board of this run's session, from memory where this process owns it."""
    await services.start()
    return await services.board(session_id_of(runtime), context_of(runtime), runtime.store)
