"""One call: hear the caller, say the reply as it comes, interrupt, hang up."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from cuecard.blackboard import Board
from cuecard.context import Context
from cuecard.ears import ears
from cuecard.events import EventLog, SessionEnded, Spoke
from cuecard.pool import Pick
from cuecard.services import Services
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


class Session:
    """One caller. Turns are taken in order; hearing never speaks; nothing here waits for the supervisor."""

    def __init__(
        self, services: Services, trigger: LocalTrigger, responder: Any, board: Board, context: Context
    ) -> None:
        self.services = services
        self.board = board
        self.context = context
        self.reply = Reply()
        self._trigger = trigger
        self._responder = responder
        self._config = {"configurable": {"thread_id": responder_thread(board.tenant, board.session_id)}}
        self._turn = asyncio.Lock()

    @property
    def session_id(self) -> str:
        return self.board.session_id

    @property
    def log(self) -> EventLog:
        return self.board.log

    async def greet(self) -> Reply:
        """Open the call as the agent; nothing happens when it is open already."""
        if self.board.turn == 0 and not (await self.history()):
            async for _ in self._stream({"utterance": ""}):
                pass
        return self.reply

    async def hear(self, text: str) -> None:
        """The caller's words so far. Sends fetches out; never speaks and never waits for anything."""
        ears(self.board, self.services).hear(text)

    async def say(self, text: str) -> AsyncIterator[str]:
        """The caller's final words in, the agent's words out as they come; a holding phrase may come first.

        Leaving the stream early is a barge-in: speech stops, fetches go on, and the turn is not committed.
        """
        async with aclosing(self._stream({"utterance": text})) as pieces:
            async for piece in pieces:
                yield piece

    async def ask(self, text: str) -> Reply:
        """`say`, for those who want the whole reply."""
        async for _ in self.say(text):
            pass
        return self.reply

    async def _stream(self, turn: dict[str, str]) -> AsyncGenerator[str]:
        async with self._turn:
            began = time.perf_counter()
            virtual_s, first_ms = self.board.now_s, -1.0
            run = self._responder.astream(
                turn, self._config, context=self.context, stream_mode=["custom", "updates"], durability="exit"
            )
            tier = ""
            async with aclosing(run) as parts:
                async for mode, part in parts:
                    if mode == "updates":
                        tier = (part.get("decide") or {}).get("tier", tier)
                        continue
                    if first_ms < 0.0:
                        first_ms = self._overhead_ms(began, virtual_s)
                    yield part.get("say") or part.get("hold")
            self.reply = self._reply(tier, max(first_ms, 0.0))
            await asyncio.to_thread(self.board.log.flush)

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
        if board.turns and text != board.turns[-1].reply:
            board.turns[-1] = board.turns[-1]._replace(reply=text)
            board.log.emit(Spoke(text=board.turns[-1].reply, action=board.desk.last_action, heard=text))

    async def history(self) -> list[dict[str, str]]:
        """The messages so far, oldest first."""
        saved = await self._responder.aget_state(self._config)
        return list(saved.values.get("messages", []))

    async def settle(self) -> None:
        """Wait for the pass under way, if any. The reply never does this; tests and hang-ups do."""
        await self._trigger.settle(self.board.tenant, self.board.session_id)

    async def hang_up(self, outcome: str = "") -> None:
        """The caller is gone: note the outcome, withdraw fetches, write the log. It can be taken up again."""
        board = self.board
        if outcome and not board.desk.outcome:
            board.desk.outcome = outcome
        if not board.desk.ended:
            board.log.emit(SessionEnded(outcome=board.desk.outcome or "abandoned", reason="hung up"))
        if board.listener is not None:
            board.listener.cancel()
        await self.settle()
        await asyncio.to_thread(board.log.flush)
        self.services.release(board)
