"""One call: hear the caller, say the reply as it comes, interrupt, hang up."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from cuecard.blackboard import Board
from cuecard.context import Context
from cuecard.ears import ears
from cuecard.events import EventLog, SessionEnded, Spoke
from cuecard.pool import Pick
from cuecard.services import Services
from cuecard.session.order import TurnOrder, alone
from cuecard.session.under_way import Piece, Put, UnderWay
from nodes.recall import catch_up, clean
from nodes.state import Message, ResponderState
from nodes.trigger import LocalTrigger, responder_thread


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a turn."""

    text: str = ""
    action: str = ""
    tier: str = ""
    state: str = ""
    picks: list[Pick] = field(default_factory=list)
    stall_s: float = 0.0
    """Seconds the caller waited for data."""
    overhead_ms: float = 0.0
    """Final words to first word out, in real time, a chat model's own time excluded."""
    ended: bool = False
    outcome: str = ""


class Past(NamedTuple):
    """A call as its checkpoint has it: what any process would go on from."""

    turn: int = 0
    messages: tuple[Message, ...] = ()
    desk: dict[str, Any] = {}  # noqa: RUF012 - a NamedTuple's default, never changed
    checkpoint_id: str | None = None
    at: datetime | None = None
    """When the last turn was committed."""


class Session:
    """One caller. Turns are taken in order; hearing never speaks; nothing here waits for the supervisor."""

    def __init__(
        self,
        services: Services,
        trigger: LocalTrigger,
        responder: Any,
        board: Board,
        context: Context,
        turns: TurnOrder = alone,
    ) -> None:
        self.services = services
        self.board = board
        self.context = context
        self.reply = Reply()
        self._trigger = trigger
        self._responder = responder
        self._thread = responder_thread(board.tenant, board.session_id)
        self._config = {"configurable": {"thread_id": self._thread}}
        self._turns = turns
        self._turn = asyncio.Lock()
        self._under_way: UnderWay | None = None

    @property
    def session_id(self) -> str:
        return self.board.session_id

    @property
    def log(self) -> EventLog:
        return self.board.log

    async def greet(self) -> Reply:
        """Open the call as the agent; nothing happens when it is open already."""
        if self.board.turn == 0 and not (await self.history()):
            async for _ in self._stream(""):
                pass
        return self.reply

    async def hear(self, text: str) -> None:
        """The caller's words so far. Sends fetches out; never speaks and never waits for anything."""
        ears(self.board, self.services).hear(text)

    def expect(self, text: str) -> None:
        """These final words are about to be said: what is slow about them begins beside the start of the turn."""
        words, _ = clean(text, self.services.settings.max_utterance_chars)
        ears(self.board, self.services).expect(words)

    async def say(self, text: str) -> AsyncIterator[str]:
        """The caller's final words in, the agent's words out as they come; a holding phrase may come first.

        Leaving the stream early is a barge-in: speech stops, fetches go on, and the turn is not committed. One that has
        written by then ends unheard, and counts.
        """
        async with aclosing(self._stream(text)) as pieces:
            async for piece in pieces:
                yield piece.text

    async def ask(self, text: str) -> Reply:
        """`say`, for those who want the whole reply."""
        async for _ in self.say(text):
            pass
        return self.reply

    async def _stream(self, text: str) -> AsyncGenerator[Piece]:
        began = time.perf_counter()
        self.expect(text)
        async with self.order(), aclosing(self.speak(text, began=began)) as pieces:
            async for piece in pieces:
                yield piece

    @asynccontextmanager
    async def order(self) -> AsyncIterator[None]:
        """Held while a turn is placed and taken: nobody else takes one of this call, in this process or another."""
        async with self._turn, self._turns(self._thread):
            yield

    async def past(self, before_turn: int | None = None) -> Past:
        """The newest checkpoint; with `before_turn`, the newest in which that turn had not been taken."""
        saver = self._responder.checkpointer
        found = await saver.aget_tuple(self._config)
        while found is not None:
            values = found.checkpoint["channel_values"]
            turn = values.get("turn", 0)
            if before_turn is None or turn < before_turn:
                saved = found.checkpoint
                messages, at = tuple(values.get("messages", ())), datetime.fromisoformat(saved["ts"])
                return Past(turn, messages, values.get("desk", {}), saved["id"], at)
            found = await saver.aget_tuple(found.parent_config) if found.parent_config else None
        return Past()

    async def speak(
        self, text: str, *, key: str = "", instead_of: int | None = None, began: float | None = None
    ) -> AsyncGenerator[Piece]:
        """Take one turn; the order must be held. It counts once the stream has ended, and not at all before.

        `instead_of` takes a turn back, which must be the last one, and has this in its place. `key` names the request.
        """
        began = time.perf_counter() if began is None else began
        config = self._config if instead_of is None else await self._before(instead_of)
        if instead_of is not None:
            # Another process may have taken that turn, and kept it.
            self.board.retaken.add(instead_of)
        self.board.turn_key = key
        turn = self.services.traffic.turn()
        try:
            self._under_way = UnderWay(self.board, partial(self._take, text, config, began))
            async with aclosing(self._under_way.pieces()) as pieces:
                async for piece in pieces:
                    yield piece
                    turn.over()
        finally:
            turn.over()

    async def _take(self, text: str, config: dict[str, Any], began: float, put: Put) -> None:
        """The turn itself, from the caller's words to the books."""
        virtual_s, first_ms, tier = self.board.now_s, -1.0, ""
        run = self._responder.astream(
            {"utterance": text}, config, context=self.context, stream_mode=["custom", "updates"], durability="exit"
        )
        async with aclosing(run) as parts:
            async for mode, part in parts:
                if mode == "updates":
                    tier = (part.get("decide") or {}).get("tier", tier)
                    continue
                if first_ms < 0.0:
                    first_ms = self._overhead_ms(began, virtual_s)
                await put(Piece(part["say"]) if part.get("say") else Piece(part.get("hold", ""), holding=True))
        self.reply = self._reply(tier, max(first_ms, 0.0))
        await asyncio.to_thread(self.board.log.flush)

    async def _before(self, turn: int) -> dict[str, Any]:
        past = await self.past(before_turn=turn)
        if past.checkpoint_id is None:
            # Nothing lies before the first turn: the call begins anew.
            await self._responder.checkpointer.adelete_thread(self._thread)
            return self._config
        return {"configurable": {**self._config["configurable"], "checkpoint_id": past.checkpoint_id}}

    def hush(self) -> None:
        """The caller cut in: the reply under way ends where it is, and the turn counts with what was said of it."""
        self.board.live.hushed = True

    def _overhead_ms(self, began: float, began_s: float) -> float:
        """Real time since the final words, without what was waited for: data (booked as stall) and a model."""
        waited_s = self.board.live.stall_s + self.board.live.model_s
        real_s = time.perf_counter() - began
        return 1000.0 * (real_s - waited_s if self.services.real_time else real_s)

    def _reply(self, tier: str, overhead_ms: float) -> Reply:
        board = self.board
        spoken = next(event for event in reversed(board.log.events) if isinstance(event, Spoke))
        return Reply(
            text=spoken.text,
            action=spoken.action,
            tier=tier,
            state=board.desk.last_state,
            picks=board.live.picks,
            stall_s=board.live.stall_s,
            overhead_ms=overhead_ms,
            ended=board.desk.ended,
            outcome=board.desk.outcome,
        )

    async def heard(self, text: str) -> None:
        """After a barge-in: how much of the last reply the caller really heard. History says so from now on."""
        board = self.board
        await self.refresh()
        if board.turns and text != board.turns[-1].reply:
            board.turns[-1] = board.turns[-1]._replace(reply=text)
            board.log.emit(Spoke(text=board.turns[-1].reply, action=board.desk.last_action, heard=text))

    async def refresh(self) -> None:
        """Catch up with turns that another process took; between turns only."""
        past = await self.past()
        state: ResponderState = {"turn": past.turn, "desk": past.desk, "messages": list(past.messages)}
        await catch_up(self.board, state, self._responder.store)
        self.board.turn = past.turn

    async def history(self) -> list[dict[str, str]]:
        """The messages so far, oldest first."""
        saved = await self._responder.aget_state(self._config)
        return list(saved.values.get("messages", []))

    async def settle(self) -> None:
        """Wait for the pass under way, if any. The reply never does this; tests and hang-ups do."""
        await self._trigger.settle(self.board.tenant, self.board.session_id)

    async def leave(self) -> None:
        """Nobody listens to the turn under way, if there is one: it is dropped, or ends where it has written."""
        if self._under_way is not None:
            await self._under_way.leave()

    async def hang_up(self, outcome: str = "") -> None:
        """The caller is gone: note the outcome, withdraw fetches, write the log. It can be taken up again."""
        await self.leave()
        board = self.board
        if outcome and not board.desk.outcome:
            board.desk.outcome = outcome
        if not board.desk.ended:
            outcome = board.desk.outcome or "abandoned"
            board.log.emit(SessionEnded(outcome=outcome, reason="hung up"))
            await self.settle()
            if self.services.precedents is not None:
                # After the pass, which keeps the turn that this is the outcome of.
                await self.services.precedents.set_outcome(board.tenant, board.session_id, outcome)
        await self.let_go()

    async def let_go(self) -> None:
        """Stop holding the call in this process, without a word on how it went: another may go on with it."""
        if self.board.listener is not None:
            self.board.listener.cancel()
        await self.settle()
        await asyncio.to_thread(self.board.log.flush)
        self.services.release(self.board)
