"""One call at the gateway: requests in, turns taken in order, each once."""

import asyncio
import logging
import time
from contextlib import aclosing
from datetime import UTC, datetime

from cuecard.events import Event
from cuecard.server.errors import ApiError
from cuecard.server.placing import Again, Instead, Next, Wish, fold, place
from cuecard.server.turns import LiveTurn
from cuecard.session import Past, Piece, Session

log = logging.getLogger(__name__)

ENDED_IDLE_S = 60.0
"""A call that has ended is kept this long, for a late repeat of its last request."""
HUSH_S = 0.3
"""A hushed turn gets this long to end by itself before it is dropped: it may hang on a slow source."""


class Call:
    """A session, and the turns under way in it: the newest, and those before it that have not ended yet."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.live: LiveTurn | None = None
        self._under_way: list[LiveTurn] = []
        self.touched_at = time.monotonic()

    @property
    def speaking(self) -> bool:
        return self.live is not None and not self.live.done

    def take(self, wish: Wish) -> LiveTurn:
        """The turn that answers this request: the one under way when it is the same, otherwise a new one."""
        self.touched_at = time.monotonic()
        older = self.live
        if older is not None and not older.done:
            if not older.closing and _same(older.wish, wish):
                return older
            _make_way(older, wish)
        else:
            self.session.expect(wish.words)
        turn = LiveTurn(wish)
        turn.task = asyncio.get_running_loop().create_task(self._run(turn, older))
        # A task that is cancelled before its first step never gets to say so itself.
        turn.task.add_done_callback(lambda _: self._ended(turn))
        self._under_way.append(turn)
        self.live = turn
        return turn

    def _ended(self, turn: LiveTurn) -> None:
        turn.ended()
        self._under_way.remove(turn)

    async def _run(self, turn: LiveTurn, older: LiveTurn | None) -> None:
        error: BaseException | None = None
        try:
            if older is not None:
                await older.over(HUSH_S)
            async with self.session.order():
                await self._answer(turn)
        except asyncio.CancelledError:
            # Whoever still listens to a dropped turn hears nothing more of it.
            pass
        except Exception as caught:  # noqa: BLE001 - told to the client, who alone can act on it
            error = caught
        turn.end(error)

    async def _answer(self, turn: LiveTurn) -> None:
        session, wish = self.session, turn.wish
        past = await session.past()
        plan = place(wish, past)
        if isinstance(plan, Next):
            self._is_no_older_call(wish, past)
        if isinstance(plan, Instead) and self._wrote_last(past):
            # What was executed cannot be taken back, so other words come after it.
            plan = Next(wish.words)
        if isinstance(plan, Again):
            turn.put(Piece(plan.reply))
            return
        if isinstance(plan, Next) and wish.heard is not None:
            await self._heard(past, wish.heard)
        instead_of = plan.turn if isinstance(plan, Instead) else None
        board, before = session.board, session.board.live
        turn.hush, turn.wrote = session.hush, lambda: board.live is not before and board.live.wrote
        speech = session.speak(plan.words, key=wish.key, instead_of=instead_of, began=turn.began)
        async with aclosing(speech) as pieces:
            async for piece in pieces:
                turn.put(piece)

    def _is_no_older_call(self, wish: Wish, past: Past) -> None:
        """ApiError when a conversation begins under the name of a call that is over: its caller may be another."""
        if wish.history or past.at is None:
            return
        kept_s = ENDED_IDLE_S if past.desk.get("ended") else self.session.services.settings.session_idle_s
        if (datetime.now(UTC) - past.at).total_seconds() > kept_s:
            message = (
                f"The call {self.session.session_id!r} is over, and nothing said in it holds for another. "
                "Give each call a name of its own: X-Session-Id, metadata.session_id or `user`."
            )
            raise ApiError(409, message, code="session_over")

    def _wrote_last(self, past: Past) -> bool:
        action = self.session.board.kit.procedure.actions.get(past.desk.get("last_action", ""))
        return action is not None and action.kind == "write"

    async def _heard(self, past: Past, heard: str) -> None:
        """After a barge-in the platform knows how much of our reply was heard, and its word goes."""
        ours = next((message["content"] for message in reversed(past.messages) if message["type"] == "ai"), None)
        # A holding phrase before the reply is no part of ours.
        if ours is not None and not fold(heard).endswith(fold(ours)):
            await self.session.heard(heard)

    async def hang_up(self, outcome: str = "") -> None:
        """After all turns under way: one that waits for another is dropped with nobody left to see that one end."""
        turns = [*self._under_way]
        for turn in turns:
            turn.leave()
        for turn in turns:
            await turn.over(HUSH_S)
        async with self.session.order():
            await self.session.hang_up(outcome)

    def events(self) -> list[Event]:
        return self.session.log.events


def _same(older: Wish, newer: Wish) -> bool:
    if older.key and newer.key:
        return older.key == newer.key
    return (older.words, older.history, older.heard) == (newer.words, newer.history, newer.heard)


def _make_way(older: LiveTurn, wish: Wish) -> None:
    """A barge-in lets what was said count; other words for the same turn take it back."""
    if wish.tells_history and fold(older.wish.words) not in map(fold, wish.history):
        older.drop()
    else:
        older.leave()
