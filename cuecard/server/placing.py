"""What a request means for a call: the next turn, the last one asked for again, or other words in its place.

Voice platforms send the whole conversation with every request, repeat requests that took too long, and ask ahead of the
end of an utterance with words that turn out different. A call must survive all of it: each turn is taken once.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from cuecard.session import Past
from nodes.recall import clean, exchanges
from nodes.state import as_message

MAX_MISSED = 3
"""Earlier words of the caller that no turn of ours has answered are answered along, up to so many utterances."""


class Wish(NamedTuple):
    """A request boiled down: the caller's final words, and what it tells of the call before them."""

    words: str
    """Empty: the agent is to open the call."""
    history: tuple[str, ...] = ()
    """The caller's earlier utterances, oldest first."""
    heard: str | None = None
    """What the caller heard of the agent's last reply, as the platform has it."""
    key: str = ""

    @property
    def tells_history(self) -> bool:
        """False for clients that send only the newest words and leave the rest to us."""
        return self.heard is not None or bool(self.history)


class Next(NamedTuple):
    words: str


class Again(NamedTuple):
    """The last turn's reply is repeated; nothing is taken."""

    reply: str


class Instead(NamedTuple):
    """The last turn is taken back and these words are answered in its place."""

    words: str
    turn: int


def wish_of(messages: Sequence[Any], key: str = "", limit: int = 4000) -> Wish:
    """Utterances that follow each other without a reply between them are one: the caller was not done."""
    groups: list[str] = []
    heard: str | None = None
    open_group = False
    for message in map(as_message, messages):
        text = clean(message["content"], limit)[0]
        if message["type"] == "ai":
            heard, open_group = text, False
        elif message["type"] == "human" and text:
            groups[-1:] = [f"{groups[-1]} {text}"] if open_group else [*groups[-1:], text]
            open_group = True
    words = groups.pop() if open_group else ""
    return Wish(words, tuple(groups), heard, key)


def place(wish: Wish, past: Past) -> Next | Again | Instead:
    """Decide by what the request tells of the call, and by its key; when in doubt it is the next turn."""
    turns = exchanges(list(past.messages))
    ours = [fold(said) for said, _ in turns if said]
    last_reply = turns[-1][1] if turns else ""
    if (answered := _answered(wish.key, past)) is not None:
        return Again(answered)
    if not wish.words:
        return Again(last_reply) if turns else Next("")
    if not ours:
        # A long history is one that we have lost, and not one that we have missed.
        missed = wish.history if len(wish.history) <= MAX_MISSED else ()
        return Next(" ".join([*missed, wish.words]))
    words, history = fold(wish.words), [fold(said) for said in wish.history]
    if not _is_about_last(wish, words, history, ours):
        return Next(_with_missed(wish, history, ours))
    if words == ours[-1]:
        return Again(last_reply)
    return Instead(wish.words, past.turn)


def _answered(key: str, past: Past) -> str | None:
    """The reply to an earlier request of this key, however many turns ago; None when there was none."""
    reply = None
    for message in reversed(past.messages):
        if message["type"] == "ai":
            reply = message["content"]
        elif key and message.get("id") == key:
            return reply
    return None


def _is_about_last(wish: Wish, words: str, history: list[str], ours: list[str]) -> bool:
    """Whether the request stands where our last turn stands, rather than after it."""
    if not wish.tells_history:
        # Only the first turn looks alike from clients with and without history; growing words are one utterance.
        return len(ours) == 1 and words.startswith(ours[-1])
    if not history:
        return len(ours) == 1
    after, before = _agreement(history, ours), _agreement(history, ours[:-1])
    if after == before > 0:
        return len(history) == len(ours) - 1
    return before > after


def _agreement(history: list[str], ours: list[str]) -> int:
    """How many utterances agree, counted from the newest."""
    n = 0
    while n < min(len(history), len(ours)) and history[-1 - n] == ours[-1 - n]:
        n += 1
    return n


def _with_missed(wish: Wish, history: list[str], ours: list[str]) -> str:
    """The words, after those before them that came since our last turn: a reply cut off early took no turn."""
    if ours[-1] not in history:
        return wish.words
    known = len(history) - history[::-1].index(ours[-1])
    return " ".join([*wish.history[known:][-MAX_MISSED:], wish.words])


def fold(text: str) -> str:
    """Letters and digits only: platforms add punctuation and capitals to what they told us first."""
    return "".join(char for char in text.casefold() if char.isalnum()) or text
