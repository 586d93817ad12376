"""The single call: one streamed answer that names a step in its first line and then speaks."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import orjson

from cuecard.blackboard import Board
from cuecard.context import Context
from cuecard.errors import ModelError
from cuecard.models.chat import Message
from cuecard.prefetch.types import Item
from cuecard.services import Services
from cuecard.settled import stands
from cuecard.traffic import elsewhere
from prompts import load_prompt

_LONGEST_STEP_LINE = 200


@dataclass(slots=True)
class Answer:
    """A model's answer under way: its step is known, its words still come."""

    action: str
    _rest: AsyncIterator[str]
    shown: frozenset[str] = field(default_factory=frozenset)
    """Dependencies whose items the model was shown."""

    async def words(self) -> AsyncIterator[str]:
        async for text in self._rest:
            yield text

    async def drop(self) -> None:
        """Stop the stream; what is left of it is never said."""
        close = getattr(self._rest, "aclose", None)
        if close is not None:
            await close()


async def ask_model(
    board: Board, services: Services, context: Context, allowed: Sequence[str], extra: Sequence[Item] = ()
) -> Answer:
    """Ask for a step and its words; returns as soon as the step is known. Raises ModelError."""
    chat = services.chat
    if chat is None:
        raise ModelError("no chat model is configured")
    began_s = board.now_s
    items = _items(board, allowed[0], extra)
    stream = _waited_for(chat.stream(build_messages(board, services, context, allowed, items)))
    head = ""
    async for text in stream:
        head += text
        line, newline, rest = head.lstrip().partition("\n")
        if newline or len(head) > _LONGEST_STEP_LINE:
            action = step_named(line)
            first = rest.lstrip() if action else head
            shown = frozenset(item.dep for item in items)
            board.live.model_s += board.now_s - began_s
            return Answer(action or allowed[0], _chain(first, stream), shown)
    board.live.model_s += board.now_s - began_s
    if not head.strip():
        raise ModelError("the chat model answered nothing")
    if action := step_named(head.strip()):
        raise ModelError(f"the chat model named the step {action!r} and said nothing")
    return Answer(allowed[0], _chain(head, None))


async def _waited_for(stream: AsyncIterator[str]) -> AsyncIterator[str]:
    """The same, while the loop is free for others until the first piece comes."""
    with elsewhere():
        first = await anext(stream, None)
    if first is not None:
        yield first
        async for text in stream:
            yield text


async def _chain(first: str, rest: AsyncIterator[str] | None) -> AsyncIterator[str]:
    if first:
        yield first
    if rest is not None:
        async for text in rest:
            yield text


def step_named(line: str) -> str:
    """The action of a `STEP: name` line, or "" when the line is not one."""
    label, colon, name = line.strip().partition(":")
    return name.strip().strip("`*<> ") if colon and label.strip("*` ").upper() == "STEP" else ""


def _items(board: Board, suggested: str, extra: Sequence[Item]) -> list[Item]:
    """The picks, and what lies ready for the step the procedure would take; each once."""
    items = {item.id: item for item in extra}
    items |= {pick.item.id: pick.item for pick in board.live.picks if pick.item.kind == "data"}
    for dep in board.kit.procedure.actions[suggested].needs:
        if dep not in board.kit.rag_deps and (item := board.pool.get(dep, None, board.now_s)):
            items.setdefault(item.id, item)
    return [item for item in items.values() if stands(board, item)]


def write_messages(board: Board, services: Services, action: str, words: str, items: Sequence[Item]) -> list[Message]:
    """The prompt for a reply of `action` to words that nobody has said yet."""
    return build_messages(board, services, board.context, [action], items, words=words)


def build_messages(
    board: Board,
    services: Services,
    context: Context,
    allowed: Sequence[str],
    items: Sequence[Item],
    *,
    words: str | None = None,
) -> list[Message]:
    """What never changes first, what changes every turn last, so that a provider's prefix cache can hold the rest.

    Old history is dropped until the prompt fits its token budget; the turn's own part never is.
    """
    procedure = board.kit.procedure
    actions = "\n".join(f"- {name}: {action.description}" for name, action in procedure.actions.items())
    system = load_prompt("agent").render(title=procedure.title, description=procedure.description, actions=actions)
    shown = load_prompt(context.label).render(items="\n".join(as_data(item) for item in items)) if items else ""
    turn = load_prompt("turn").render(
        facts=quoted(board.desk.facts),
        context=shown or "No notes are laid out for this turn.",
        allowed=", ".join(allowed),
        suggestion=allowed[0],
        utterance=quoted(board.live.utterance if words is None else words),
    )
    history: list[Message] = []
    for view in board.turns:
        history += [("user", f"The caller said: {quoted(view.utterance)}")] if view.utterance else []
        history += [("assistant", f"STEP: {view.action}\n{view.reply}")]
    room = services.settings.prompt_budget_tokens - services.count_tokens(system) - services.count_tokens(turn)
    kept: list[Message] = []
    for role, text in reversed(history):
        room -= services.count_tokens(text)
        if room < 0:
            break
        kept.append((role, text))
    return [("system", system), *reversed(kept), ("user", turn)]


def as_data(item: Item) -> str:
    """An item as one line of JSON: whatever its text says, it cannot leave its string."""
    return quoted({"source": item.dep, "text": item.text})


def quoted(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
