"""Predict: what comes at +1 to +3, and which fetches are worth starting for it."""

from langgraph.runtime import Runtime
from langgraph.types import Send

from cuecard.context import Context
from cuecard.events import Forecasted
from cuecard.foresight import forecast, plan
from cuecard.services import Services
from cuecard.turn import prewrite
from nodes.session import board_of
from nodes.state import SupervisorState


async def predict(state: SupervisorState, runtime: Runtime[Context], *, services: Services) -> SupervisorState:
    """Make the forecast and ask the planner; a call that has ended is not predicted any further."""
    await services.traffic.quiet()
    board = await board_of(state, runtime, services)
    if board.desk.ended:
        return {"wanted": []}
    board.forecast = await forecast(board, services)
    made = board.forecast
    board.log.emit(
        Forecasted(
            by=made.by,
            actions=[dict(distribution) for distribution in made.actions],
            utterances=[{"text": u.text, "p": u.p, "offset": u.offset, "origin": u.origin} for u in made.utterances]
            if services.settings.log_content
            else [{"p": u.p, "offset": u.offset, "origin": u.origin} for u in made.utterances],
            ms=made.ms,
            tokens=made.tokens,
        )
    )
    wanted = plan(board, services)
    if services.settings.prewrite:
        await prewrite(board, services)
    return {"wanted": wanted}


def branches(state: SupervisorState) -> list[Send] | str:
    """One prefetch branch per wanted fetch; straight to curate when there is none."""
    common = {name: state[name] for name in ("tenant", "session_id", "turn")}
    wanted = state.get("wanted") or []
    sends = [Send("prefetch", {**common, "wanted": key}) for key in wanted]
    return sends or "curate"
