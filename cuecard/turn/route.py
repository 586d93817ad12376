"""Chooses the next step: rules without a model, otherwise playbook, one model call, or tree search where asked for."""

from dataclasses import dataclass

from cuecard.blackboard import Board
from cuecard.context import Context
from cuecard.errors import ModelError
from cuecard.events import Degraded
from cuecard.needs import ask_ahead, reads_to_begin
from cuecard.policy import allowed_actions, choose
from cuecard.policy.consent import state_to_act_on
from cuecard.services import Services
from cuecard.turn.ask import Answer, ask_model
from cuecard.turn.prewrite import prewritten


@dataclass(slots=True)
class Decision:
    action: str
    tier: str
    """rules, prewritten, playbook, single_call or search."""
    reason: str


async def route(board: Board, services: Services, context: Context) -> Decision:
    """The step that answers these words. What a model says outside the allowed steps is not done."""
    if not board.live.utterance:
        return Decision(board.kit.procedure.start, "rules", "the agent opens the call")
    state = state_to_act_on(board.kit.procedure, board.desk, board.live.belief.state, board.live.utterance)
    ruled = choose(board.kit.procedure, board.desk, state)
    if written := prewritten(board, ruled.action):
        board.live.prewritten = written[0].text
        board.pool.touch(written[0].id)
        return Decision(ruled.action, "prewritten", f"written ahead, and it fits: {written[1]}")
    if services.chat is None:
        return Decision(ruled.action, "rules", ruled.reason)
    allowed = allowed_actions(board.kit.procedure, board.desk, state)
    if searched := _searched(board, services, context, allowed):
        return searched
    if known := await services.playbook.step(board, allowed):
        return Decision(known[0], "playbook", known[1])
    # What the suggested step needs is fetched while the model makes up its mind, which mostly is that step.
    for job in reads_to_begin(board, allowed[0]):
        services.in_background(ask_ahead(board, job))
    try:
        answer = await ask_model(board, services, context, allowed)
    except ModelError as error:
        board.log.emit(Degraded(part="chat", reason=str(error)))
        return Decision(ruled.action, "rules", "the model gave no answer; the procedure's rules decide")
    if answer.action not in allowed:
        await answer.drop()
        board.log.emit(Degraded(part="chat", reason=f"the model chose {answer.action!r}, which is not allowed now"))
        return Decision(ruled.action, "rules", "the model chose a step that is not allowed")
    board.live.answer = answer
    return Decision(answer.action, "single_call", "the model chose it among the allowed steps")


def _searched(board: Board, services: Services, context: Context, allowed: list[str]) -> Decision | None:
    """The tree search's cached decision for this state; the search itself never runs on a turn."""
    wanted = context.search if context.search is not None else services.settings.search
    cached = board.pondered.get(board.live.belief.likely_state, "") if wanted else ""
    return Decision(cached, "search", "the best root action of the background search") if cached in allowed else None


__all__ = ["Answer", "Decision", "route"]
