"""Prefetch: start one fetch, or join it. It belongs to the process and may outlive this pass."""

from langgraph.runtime import Runtime

from cuecard.context import Context
from cuecard.needs import ask_ahead
from cuecard.services import Services
from nodes.session import board_of
from nodes.state import Branch, SupervisorState


async def prefetch(state: Branch, runtime: Runtime[Context], *, services: Services) -> SupervisorState:
    """Hand the planned job to the broker and return: what it brings lands in the pool when it lands."""
    board = await board_of(state, runtime, services)
    job = board.planned.pop(state["wanted"], None)
    if job is not None:
        await ask_ahead(board, job)
    return {}
