"""Curate: put the pool in order against the forecast and publish the slice, unless a newer pass already has."""

import asyncio

from langgraph.runtime import Runtime

from cuecard.blackboard import publish
from cuecard.context import Context
from cuecard.events import PassEnded
from cuecard.foresight import rank
from cuecard.services import Services
from nodes.session import board_of
from nodes.state import SupervisorState


async def curate(state: SupervisorState, runtime: Runtime[Context], *, services: Services) -> SupervisorState:
    """Expire, pin and rank; one versioned write, fenced by the turn."""
    await services.traffic.quiet()
    board = await board_of(state, runtime, services)
    rank(board)
    shared = services.settings.database_url is not None
    published = runtime.store is None or await publish(board, runtime.store, state["turn"], shared=shared)
    how = "published" if published else "stale"
    board.log.emit(PassEnded(for_turn=state["turn"], how=how, pool_size=len(board.pool)))
    await asyncio.to_thread(board.log.flush)
    return {"published": published}
