"""Plays one call on virtual time: the caller's words arrive as a recogniser delivers them, and the agent answers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from cuecard.clock import Clock
from cuecard.events import Event
from cuecard.ledger import Ledger, ledger_of
from cuecard.session import Reply, Session
from evals.callers import AgendaCaller, CallerTurn, Cue
from evals.callers.voice import Voice

TURN_CAP = 20
"""Agent turns after which a call is cut off, and counted apart."""
AGENT_WORDS_PER_S = 2.8
"""How fast the agent's words are spoken, to know how much of them a caller heard who cut in."""

Watcher = Callable[[Ledger, CallerTurn | None], None]
"""Told after each turn of the agent: the books so far, and the words that were answered (None: it opened the call)."""


class Speaker(Protocol):
    """Whoever gives the caller's turns: `cue` is None for the first words; None ends the call."""

    def next(self, cue: Cue | None) -> CallerTurn | None: ...


class Live:
    """A caller who listens to what the agent does."""

    def __init__(self, caller: AgendaCaller) -> None:
        self._caller = caller

    def next(self, cue: Cue | None) -> CallerTurn | None:
        return self._caller.opens() if cue is None else self._caller.replies(cue)


class Replayed:
    """The same words again, whatever the agent does."""

    def __init__(self, turns: Iterable[CallerTurn]) -> None:
        self._turns = iter(turns)

    def next(self, cue: Cue | None) -> CallerTurn | None:
        return next(self._turns, None)


@dataclass(slots=True)
class Played:
    """One run of a call: what was said, the books, and the real time our own work took."""

    turns: list[CallerTurn] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    """The agent's steps, the greeting first."""
    ledger: Ledger = field(default_factory=Ledger)
    events: list[Event] = field(default_factory=list)
    overhead_ms: list[float] = field(default_factory=list)
    outcome: str = ""
    capped: bool = False
    end_s: float = 0.0


async def play(
    session: Session, speaker: Speaker, clock: Clock, watch: Watcher | None = None, voice: Voice | None = None
) -> Played:
    """From the greeting until somebody hangs up, the agent closes, or the turn cap cuts in.

    `voice` gives the speaker's turns their final words; None leaves them as they are.
    """
    played = Played()
    began_s = clock.now()
    reply = await session.greet()
    _note(played, session, reply, None, watch)
    cue: Cue | None = None
    while True:
        turn = speaker.next(cue)
        if turn is None:
            break
        if voice is not None:
            turn = await voice.say(turn, reply.text)
        played.turns.append(turn)
        await _let_speak(session, turn, clock)
        if turn.words:
            reply = await session.ask(turn.words)
            _note(played, session, reply, turn, watch)
        if turn.hangs_up or reply.ended:
            break
        if len(played.actions) >= TURN_CAP:
            played.capped = True
            break
        cue = _cue(session, reply)
    await session.hang_up()
    played.events = session.log.events
    played.ledger = ledger_of(played.events)
    played.outcome = session.board.desk.outcome or "abandoned"
    played.end_s = clock.now() - began_s
    return played


async def _let_speak(session: Session, turn: CallerTurn, clock: Clock) -> None:
    """The agent's speech, thinking and the caller's words, up to the last word."""
    silent_s = turn.turn_s - turn.speech_s
    await clock.sleep(silent_s)
    if turn.barge_in:
        await _cut_short(session, silent_s)
    before_s = 0.0
    for interim in turn.interims:
        await clock.sleep(interim.at_s - before_s)
        before_s = interim.at_s
        await session.hear(interim.text)
    await clock.sleep(turn.speech_s - before_s)


async def _cut_short(session: Session, spoken_s: float) -> None:
    """The caller cut in: note the part of the reply that was out by then."""
    words = session.reply.text.split()
    heard = words[: int(spoken_s * AGENT_WORDS_PER_S)]
    if len(heard) < len(words):
        await session.heard(" ".join(heard))


def _cue(session: Session, reply: Reply) -> Cue:
    action = session.board.kit.procedure.actions[reply.action]
    return Cue(reply.action, action.kind, action.asks, reply.stall_s, reply.ended)


def _note(played: Played, session: Session, reply: Reply, turn: CallerTurn | None, watch: Watcher | None) -> None:
    played.actions.append(reply.action)
    if turn is not None:
        played.overhead_ms.append(reply.overhead_ms)
    if watch is not None:
        watch(ledger_of(session.log.events), turn)
