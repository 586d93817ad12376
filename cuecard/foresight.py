"""What a supervisor pass does with its belief: forecast, plan, and order the pool."""

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from cuecard.belief.types import Belief
from cuecard.blackboard import Board
from cuecard.predictors.counts import HORIZON
from cuecard.predictors.types import Forecast
from cuecard.prefetch.events import FetchPlanned
from cuecard.prefetch.flight import SessionId

if TYPE_CHECKING:
    from cuecard.services import Services


async def judge(board: Board, services: "Services", utterance: str) -> Belief:
    """The belief after this turn: as the responder judged it, or as the slow model does where one is configured."""
    if not utterance:
        return board.belief
    ours = board.live.turn == board.turn and board.live.utterance == utterance
    before = board.turns[-2].action if len(board.turns) > 1 else None
    said = board.turns[-2].reply if len(board.turns) > 1 else ""
    modelled = services.minds.classifier(board.kit)
    if modelled is not None:
        prior = board.live.prior if ours else board.belief
        return await modelled.judge_text(utterance, before, prior, agent_said=said)
    return board.live.belief if ours else board.kit.classifier.judge_text(utterance, before, board.belief)


async def forecast(board: Board, services: "Services") -> Forecast:
    """Distributions over the next turns, and the sentences a caller may say."""
    view = board.view()
    made = await services.minds.predictor(board).predict(view, HORIZON)
    said = [*made.utterances]
    if (bank := services.minds.bank()) is not None:
        said += await bank.predict(view)
    if services.minds.ponders(board):
        searched, decisions = await services.minds.search(board.kit).ponder(view, HORIZON)
        board.pondered = decisions
        said += searched.utterances
        made = replace(made, by=f"{made.by} + mcts", tokens=made.tokens + searched.tokens, ms=made.ms + searched.ms)
    return replace(made, utterances=tuple(said))


def plan(board: Board, services: "Services") -> list[str]:
    """Decide on fetches; lay the jobs out on the board and return their names, most valuable first."""
    who = SessionId(board.tenant, board.session_id)
    board.planned.clear()
    for decision in services.minds.planner(board).plan(board):
        board.log.emit(
            FetchPlanned(
                dep=decision.key.dep,
                key=decision.key.args,
                what=decision.what,
                reason=decision.reason,
                p_use=decision.job.p if decision.job is not None else 0.0,
                value_s=decision.value_s,
                for_action=decision.job.for_action if decision.job is not None else "",
                for_offset=decision.job.for_offset if decision.job is not None else 0,
            )
        )
        if decision.what == "drop":
            board.kit.broker.withdraw(decision.key, who)
        elif decision.job is not None:
            board.planned[f"{decision.key.dep}:{decision.key.args}"] = decision.job
    return list(board.planned)


def rank(board: Board) -> None:
    """Expire what is stale; give the items of forecast actions their bonus and their worth."""
    board.pool.expire(board.now_s)
    actions = board.kit.procedure.actions
    p_dep: dict[str, float] = {}
    for name, action in actions.items():
        p = board.forecast.p_action_within(name)
        for dep in action.needs:
            p_dep[dep] = max(p_dep.get(dep, 0.0), p)
    board.pool.asked_for({item.id: p_dep.get(item.dep, 0.0) for item in board.pool.items})
    board.worth_s = _worth_s(board, p_dep)
    revalue(board)


def revalue(board: Board) -> None:
    """Tell the pool what its items are worth, so that it gives up the right one when room is needed."""
    board.pool.value({item.id: board.worth_s.get(item.dep, 0.0) for item in board.pool.items})


def _worth_s(board: Board, p_dep: dict[str, float]) -> dict[str, float]:
    """Seconds that an item of each dependency may save. A search's passages share them: one of them will be spoken."""
    procedure, done = board.kit.procedure, board.view().done
    ahead = {dep for name in procedure.path if name not in done for dep in procedure.actions[name].needs}
    passages = Counter(board.kit.corpus_behind(item.dep) for item in board.pool.items)
    worth_s = {}
    for dep, spec in procedure.dependencies.items():
        p = 1.0 if dep in ahead else p_dep.get(dep, 0.0)
        corpus = board.kit.corpus_behind(dep)
        worth_s[dep] = p * spec.latency_s / (max(1, passages[corpus]) if corpus else 1)
    return worth_s
