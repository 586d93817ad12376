"""Replies written before they are needed: the supervisor imagines what is said next, and how it would be answered.

A reply is said word for word only when `fits` says that the caller's words and the step are the imagined ones.
"""

import asyncio
from typing import TYPE_CHECKING

from cuecard.belief.types import top
from cuecard.blackboard import Board
from cuecard.errors import ModelError
from cuecard.events import Degraded
from cuecard.policy import choose
from cuecard.predictors.types import Utterance
from cuecard.prefetch.instructions import fits, instruction
from cuecard.prefetch.types import Item
from cuecard.settled import stands
from cuecard.turn.ask import step_named, write_messages
from cuecard.turn.speak import approved

if TYPE_CHECKING:
    from cuecard.services import Services

MOST = 2
"""Replies written a pass: each is a model call, and only one of them can be right."""
LIKELY = 0.1
"""Sentences less likely than this are not worth a reply."""
TTL_S = 120.0
_SPOKEN = {"answer", "inform", "small_talk", "ask", "confirm"}


async def prewrite(board: Board, services: "Services") -> int:
    """Put replies to the likeliest sentences into the pool, by model or from the approved ones; returns how many."""
    likely = sorted(
        (one for one in board.forecast.utterances if one.offset == 1 and one.p >= LIKELY), key=lambda u: -u.p
    )
    chosen = likely[:MOST]
    if not chosen:
        return 0
    vectors = await asyncio.to_thread(services.embedder.embed, [one.text for one in chosen])
    written = 0
    for said, vector in zip(chosen, vectors, strict=True):
        judged = board.kit.classifier.judge(
            vector, last_action=board.desk.last_action or None, prior=board.belief, text=said.text
        )
        state = top(judged.state).name
        action = choose(board.kit.procedure, board.desk, state).action
        sources = _ready(board, action)
        if sources is None or board.kit.procedure.actions[action].kind not in _SPOKEN:
            continue
        reply = await _reply(board, services, action, said, state, sources)
        if reply:
            item = instruction(
                action=action,
                utterance=said.text,
                vector=vector,
                reply=reply,
                p=said.p,
                now_s=board.now_s,
                ttl_s=TTL_S,
                facts=frozenset(board.desk.facts),
                sources=tuple(item.id for item in sources),
                offset=said.offset,
                tenant=board.tenant,
                session=board.session_id,
                state=state,
            )
            written += board.pool.add(item, board.now_s)
    return written


def _ready(board: Board, action: str) -> list[Item] | None:
    """What the step needs, if all of it lies in the pool; answers to questions are never written ahead."""
    items = []
    for dep in board.kit.procedure.actions[action].needs:
        if dep in board.kit.rag_deps:
            return None
        item = board.pool.get(dep, None, board.now_s)
        if item is None or not stands(board, item):
            return None
        items.append(item)
    return items


async def _reply(
    board: Board, services: "Services", action: str, said: Utterance, state: str, sources: list[Item]
) -> str:
    if services.slow_chat is None:
        return approved(board, board.kit.procedure.actions[action], {item.dep: item for item in sources}, state)
    try:
        text = await services.slow_chat.complete(write_messages(board, services, action, said.text, sources))
    except ModelError as error:
        board.log.emit(Degraded(part="prewriting", reason=str(error)))
        return ""
    line, _, rest = text.strip().partition("\n")
    return rest.strip() if step_named(line) == action else ""


def prewritten(board: Board, action: str) -> tuple[Item, str] | None:
    """The reply that was written for just this, and why it fits; None when none does."""
    vector = board.live.vector
    if vector is None:
        return None
    ready = frozenset(item.id for item in board.pool.items if item.fresh(board.now_s))
    for item in board.pool.items:
        if item.kind != "instruction" or item.for_action != action:
            continue
        fit = fits(
            item,
            action=action,
            words=board.live.utterance,
            vector=vector,
            ready=ready,
            now_s=board.now_s,
            state=board.live.belief.likely_state,
        )
        if fit.ok:
            return item, fit.reason
    return None
