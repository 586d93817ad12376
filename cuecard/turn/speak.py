"""Says the reply: needs met first, then a model's words or the approved ones, piece by piece."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from cuecard.blackboard import Board
from cuecard.context import Context
from cuecard.errors import FetchError, FetchRefused, ModelError
from cuecard.events import Degraded
from cuecard.needs import Met, meet, searched_by_words_alone, write_once
from cuecard.policy import fill_reply
from cuecard.prefetch.types import Item
from cuecard.services import Services
from cuecard.settled import stands
from cuecard.turn.ask import ask_model
from sops.models import Action

QUOTE_COSINE = 0.3
"""Of the worries and hesitations in the examples, passages below it were about something else (decision 0008)."""


@dataclass(slots=True)
class Said:
    """What was said, and under which step: a failed write is spoken for by the step that can still be taken."""

    text: str
    action: str
    tier: str
    sources: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    """Needs of the step that no item met: what it set out to say could not be said."""


async def speak(board: Board, services: Services, context: Context, action: str, tier: str) -> Said:
    """Meet the step's needs, then stream its words through `board.say`; returns them whole."""
    declared = board.kit.procedure.actions[action]
    try:
        met = await _meet_all(board, action, declared)
    except FetchError as error:
        board.log.emit(Degraded(part=error.dep, reason=str(error)))
        met = {}
    items = {dep: one.item for dep, one in met.items() if one.item is not None}
    lacking = tuple(dep for dep in declared.needs if dep not in items)
    if board.live.prewritten and not any(one.item is None for one in met.values()):
        board.say(board.live.prewritten)
        return Said(board.live.prewritten, action, tier, tuple(items), lacking)
    # Playbook and rules call no model: the first because it is not needed, the second because it has just failed.
    if services.chat is not None and tier in {"single_call", "search"} and declared.kind != "write":
        text = await _from_model(board, services, context, action, items)
        if text:
            return Said(text, action, tier, tuple(items), lacking)
    text = approved(board, declared, items)
    board.say(text)
    return Said(text, action, tier, tuple(items), lacking)


async def _meet_all(board: Board, action: str, declared: Action) -> dict[str, Met]:
    """All needs at once, so that the caller waits for the slowest and not for the sum."""
    deps = [dep for dep in declared.needs if dep != board.kit.procedure.verify_with or board.desk.verified]
    writes = [dep for dep in deps if board.kit.procedure.dependencies[dep].effect == "write"]
    reads = [dep for dep in deps if dep not in writes]
    words, vector = board.live.utterance, board.live.vector
    met = await asyncio.gather(
        *(meet(board, dep, action=action, words=words, vector=vector, hold=board.hold) for dep in reads)
    )
    board.live.stall_s += max((one.stall_s for one in met), default=0.0)
    by_dep = dict(zip(reads, met, strict=True))
    for dep in writes:
        if board.live.dropped:
            raise FetchRefused(dep, f"{dep} is not sent: the turn is being taken back")
        board.live.wrote = True
        by_dep[dep] = await write_once(board, dep, hold=board.hold)
        board.live.stall_s += by_dep[dep].stall_s
    return by_dep


async def _from_model(
    board: Board, services: Services, context: Context, action: str, items: Mapping[str, Item]
) -> str:
    """The model's words for this step; "" when it failed before saying anything, so that the approved ones are said.

    An answer begun before its data was there is asked again with the data: words made up without it are not said.
    """
    answer = board.live.answer
    board.live.answer = None
    needed = {dep for dep in items if dep not in board.kit.rag_deps}
    try:
        if answer is None or answer.action != action or not needed <= answer.shown:
            if answer is not None:
                await answer.drop()
            answer = await ask_model(board, services, context, [action], tuple(items.values()))
        text = ""
        async for piece in answer.words():
            if board.live.hushed:
                await answer.drop()
                break
            text += piece
            board.say(piece)
    except ModelError as error:
        board.log.emit(Degraded(part="chat", reason=str(error)))
        # Half a sentence that was said is said; only an unspoken reply may be replaced.
        return text if "text" in locals() else ""
    return text.strip()


def approved(board: Board, declared: Action, items: Mapping[str, Item], state: str | None = None) -> str:
    """The approved reply, filled from facts, the needs just met, and records fetched earlier.

    `state` is what the caller is imagined to be doing, for a reply written ahead; None: what they are doing now.
    """
    values = dict(board.desk.facts)
    earlier = {
        item.dep: item for item in board.pool.items if item.dep not in board.kit.rag_deps and stands(board, item)
    }
    for dep, item in {**earlier, **items}.items():
        values |= {f"{dep}.{field}": str(value) for field, value in item.data.items() if value is not None}
    for dep in declared.needs:
        if dep in items and dep in board.kit.rag_deps and _of_these_words(board, dep, items[dep]):
            values["answer"] = str(items[dep].data.get("answer") or "")
    state = board.live.belief.likely_state if state is None else state
    repeats = board.desk.repeats + 1 if declared is board.kit.procedure.actions.get(board.desk.last_action) else 0
    if board.desk.refused.keys() & set(declared.asks):
        # What it asks for was told already, and the record did not bear it out: that is no first question.
        repeats = max(repeats, 1)
    return fill_reply(declared, values, state=state, repeats=repeats).text


def _of_these_words(board: Board, dep: str, passage: Item) -> bool:
    """Whether a passage may be quoted to the caller: one that was found by more than their words must come near them.

    A search that the procedure words itself always finds something, also for "I'm fetching my glasses" (decision 0008).
    """
    words = board.live.vector
    if searched_by_words_alone(board.kit.procedure.dependencies[dep]) or words is None or passage.vector is None:
        return True
    return float(passage.vector @ words) >= QUOTE_COSINE
