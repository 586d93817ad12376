"""What flows through the two graphs. `typing_extensions`, so that Studio and MCP see a schema on Python 3.11."""

from typing import Annotated, Any

from langchain_core.messages import BaseMessage
from langgraph.channels import UntrackedValue
from typing_extensions import TypedDict

MAX_MESSAGES = 40
"""Kept per thread: every stored message costs microseconds on every turn (docs/decisions/0002)."""


class Message(TypedDict, total=False):
    """A message as LangChain writes it in JSON, kept as a plain dict because that is the cheapest thing to load."""

    type: str
    content: str
    id: str


def add_messages_capped(old: list[Message], new: list[Any] | Any) -> list[Message]:
    """Append, keeping the newest; accepts LangChain messages, role/content dicts and our own."""
    added = [as_message(one) for one in (new if isinstance(new, list) else [new])]
    return (old + added)[-MAX_MESSAGES:]


_TYPES = {"user": "human", "assistant": "ai"}
"""OpenAI's names for LangChain's. Other roles (system, developer, tool) keep theirs: they are not the caller."""


def as_message(raw: Any) -> Message:
    if isinstance(raw, BaseMessage):
        return {"type": raw.type, "content": raw.text, "id": raw.id or ""}
    if isinstance(raw, str):
        return {"type": "human", "content": raw}
    kind = str(raw.get("role") or raw.get("type") or "human")
    return {"type": _TYPES.get(kind, kind), "content": flat_text(raw.get("content")), "id": str(raw.get("id") or "")}


def flat_text(content: Any) -> str:
    """Text of a message's content, which may come in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part if isinstance(part, str) else part.get("text") for part in parts]
    return " ".join(text for text in texts if isinstance(text, str))


class ResponderInput(TypedDict, total=False):
    """A turn: the caller's words as last message or in `utterance`; with neither, the agent opens the call."""

    messages: list[Message]
    utterance: str


class ResponderState(TypedDict, total=False):
    """The call as checkpointed after every turn. What a turn's nodes hand each other is not kept."""

    messages: Annotated[list[Message], add_messages_capped]
    utterance: Annotated[str, UntrackedValue]
    turn: int
    desk: dict[str, Any]
    action: Annotated[str, UntrackedValue]
    tier: Annotated[str, UntrackedValue]
    reply: Annotated[str, UntrackedValue]
    picks: Annotated[list[dict[str, Any]], UntrackedValue]
    stall_s: Annotated[float, UntrackedValue]


class ResponderOutput(TypedDict, total=False):
    """What a caller of the graph gets back."""

    messages: list[Message]
    turn: int
    action: str
    tier: str
    reply: str
    picks: list[dict[str, Any]]
    """Items laid before the responder: id, dep, kind, cosine."""
    stall_s: float
    """Seconds the caller waited for data."""


class SupervisorInput(TypedDict, total=False):
    """One pass: after which turn of which session it runs, and where the call stood."""

    tenant: str
    session_id: str
    procedure: str
    turn: int
    utterance: str
    desk: dict[str, Any]


class SupervisorState(SupervisorInput, total=False):
    wanted: Annotated[list[str], UntrackedValue]
    """Keys of the fetches this pass decided on, most valuable first."""
    published: bool


class Branch(TypedDict):
    """One prefetch branch: the pass, and the fetch it is about."""

    tenant: str
    session_id: str
    turn: int
    wanted: str
