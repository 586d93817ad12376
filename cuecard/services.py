"""Everything the nodes use, built once per process and started before the first turn."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import lru_cache
from pathlib import Path
from typing import Any

from langgraph.store.base import BaseStore

from cuecard.blackboard import Board, procedure_of, publish, restore
from cuecard.boards import Boards
from cuecard.clock import Clock, LoopClock, VirtualLoop
from cuecard.context import Context
from cuecard.events import EventLog, Listener, SessionStarted
from cuecard.foresight import revalue
from cuecard.kit import Kit, build_kit
from cuecard.log_files import log_file
from cuecard.minds import Minds
from cuecard.models.chat import Chat, build_chat
from cuecard.models.embeddings import Embedder, load_embedder, weights_name
from cuecard.models.threads import use_one_thread
from cuecard.models.tokens import Count, counter, estimate
from cuecard.models.vector_cache import CachedEmbedder
from cuecard.planning import Planner
from cuecard.playbook import Playbook
from cuecard.pool import Pool
from cuecard.precedents import Precedents, Redactor
from cuecard.predictors.assemble import assemble
from cuecard.predictors.counts import MemoryCounts
from cuecard.prefetch.broker import Sink
from cuecard.prefetch.flight import SessionId
from cuecard.prefetch.types import Item
from cuecard.prefetch.write_ledger import MemoryWriteLedger, WriteLedger, ledger_at
from cuecard.settings import Settings, get_settings
from cuecard.traffic import Traffic
from sops import load_procedure


class Services:
    """Cheap to make, and ready after `start`: models, kits, boards and precedents of this process and event loop."""

    def __init__(
        self, settings: Settings | None = None, *, persist: bool = True, clock: Clock | None = None, seed: int = 0
    ) -> None:
        self._settings = settings
        self.persist = persist
        self.clock: Clock = clock or LoopClock()
        self.seed = seed
        self.embedder: Embedder
        self.chat: Chat | None = None
        self.slow_chat: Chat | None = None
        self.count_tokens: Count = estimate
        self.precedents: Precedents | None = None
        self.trigger: Any = None
        """How passes are started as a library; None: through the graph server."""
        self.minds = Minds(self)
        self.playbook = Playbook(self)
        self.traffic = Traffic()
        self._kits: dict[str, Kit] = {}
        self._boards = Boards()
        self._starting: asyncio.Lock | None = None
        self._ready = False
        self._background: set[asyncio.Task[None]] = set()
        # Comparisons keep nothing, and so a seed's call is the same whichever calls this process played before.
        self.watchers: list[Callable[[Board], Listener]] = [self.minds.time_sources] if persist else []
        """Asked for a listener whenever a session's log is opened; what they do must not take time."""

    @property
    def settings(self) -> Settings:
        if self._settings is None:
            self._settings = get_settings()
        return self._settings

    @property
    def real_time(self) -> bool:
        """Whether waiting takes real time here; False on a virtual loop."""
        return not isinstance(asyncio.get_running_loop(), VirtualLoop)

    # --- life -----------------------------------------------------------------------------------------------------

    async def start(self, *procedures: str) -> "Services":
        """Load weights, clients and the named procedures; further calls only add procedures."""
        if not self._ready:
            self._starting = self._starting or asyncio.Lock()
            async with self._starting:
                if not self._ready:
                    await self._load()
                    self._ready = True
        for name in procedures:
            await self.kit(name)
        return self

    async def _load(self) -> None:
        settings = self.settings
        use_one_thread()
        self.embedder = await asyncio.to_thread(load_embedder, settings.embedding_model)
        self.count_tokens = await asyncio.to_thread(counter)
        self.chat = await asyncio.to_thread(build_chat, settings, self.count_tokens)
        if settings.supervisor_model == "none":
            self.slow_chat = None
        elif settings.supervisor_model is None:
            self.slow_chat = self.chat
        else:
            self.slow_chat = await asyncio.to_thread(build_chat, settings, self.count_tokens, settings.supervisor_model)
        if settings.learned_model is not None:
            # Read now and kept by its reader: at the first pass it would stop all calls for a moment.
            await asyncio.to_thread(assemble, MemoryCounts(), lambda _: None, model=settings.learned_model)
        if self.persist:
            where = settings.database_url or settings.data_dir / "precedents.sqlite"
            self.precedents = await Precedents.open(
                where,
                clock=self.clock,
                redactor=Redactor() if settings.redact else None,
                keep_days=settings.retention_days,
                embedder=self.embedder,
            )

    async def aclose(self) -> None:
        """Finish what was begun: fetches withdrawn, writes completed, logs and precedents on disk."""
        for board in self._boards.all():
            board.log.flush()
        for kit in self._kits.values():
            await kit.broker.aclose()
        if self._background:
            await asyncio.gather(*self._background, return_exceptions=True)
        for chat in {self.chat, self.slow_chat} - {None}:
            await chat.aclose()  # type: ignore[union-attr]
        if self.precedents is not None:
            await self.precedents.close()
        self._boards.clear()
        self._kits.clear()
        self._ready = False

    def kits(self) -> list[Kit]:
        """Those made ready so far."""
        return list(self._kits.values())

    # --- procedures -----------------------------------------------------------------------------------------------

    async def kit(self, name: str) -> Kit:
        """The procedure made ready; built the first time, which takes a second or two."""
        found = self._kits.get(name)
        if found is not None:
            return found
        self._starting = self._starting or asyncio.Lock()
        async with self._starting:
            if name not in self._kits:
                self._kits[name] = await asyncio.to_thread(self._build, name)
        return self._kits[name]

    def _build(self, name: str) -> Kit:
        return build_kit(
            load_procedure(name),
            name,
            settings=self.settings,
            embedder=CachedEmbedder(self.embedder, weights_name(self.settings.embedding_model)),
            clock=self.clock,
            ledger=self._ledger(),
            index_folder=self.settings.data_dir / "indexes" if self.persist else None,
            seed=self.seed,
        )

    def _ledger(self) -> WriteLedger:
        if not self.persist:
            return MemoryWriteLedger()
        return ledger_at(self.settings.database_url, self.settings.data_dir)

    # --- boards ---------------------------------------------------------------------------------------------------

    def known_board(self, tenant: str, session_id: str) -> Board | None:
        return self._boards.get(SessionId(tenant, session_id), self.clock.now())

    async def board(
        self,
        session_id: str,
        context: Context,
        store: BaseStore | None,
        *,
        planner: Planner | None = None,
        held: bool = False,
    ) -> Board:
        """This session's board: from memory, or taken over from the store. Who `held` it has to `release` it."""
        who = SessionId(context.tenant, session_id)
        board = self._boards.get(who, self.clock.now(), held=held)
        if board is not None:
            return board
        if store is not None:
            await self._let_go()
        begun_with = await procedure_of(context.tenant, session_id, store) if store is not None else None
        if begun_with is not None:
            # A call goes on under the procedure that it began with: its desk means nothing to another.
            context = context.model_copy(update={"procedure": begun_with})
        kit = await self.kit(context.procedure)
        log = EventLog(clock=self.clock.now, path=self.log_path(context.tenant, session_id))
        board = Board(context.tenant, session_id, kit, context, log, Pool(self.settings.pool_cap), planner=planner)
        resumed = store is not None and await restore(board, store)
        known = self._boards.add(who, board, self.clock.now(), held=held)
        if known is not board:
            # Two turns of a new session arrived together; the first to get here made the board.
            return known
        kit.broker.open(who, Sink(on_item=lambda item: self._landed(board, store, item), emit=log.emit))
        log.listeners += [watch(board) for watch in self.watchers]
        log.emit(
            SessionStarted(
                session_id=session_id,
                tenant=context.tenant,
                procedure=kit.procedure.name,
                version=kit.procedure.version,
                prefetch=context.prefetch,
                resumed=resumed,
                wall_at=time.time(),
            )
        )
        if self.precedents is not None and kit.procedure.aliases:
            old_names = self.precedents.carry_over(context.tenant, kit.procedure.name, kit.procedure.aliases)
            self.in_background(old_names)
        return board

    def release(self, board: Board) -> None:
        """The session is over here: withdraw its fetches, forget its board."""
        who = SessionId(board.tenant, board.session_id)
        board.kit.broker.close(who)
        self._boards.pop(who)

    async def _let_go(self) -> None:
        """Forget boards that a graph server left here and that lie idle: the store holds what they would be told."""
        for board in self._boards.idle(self.clock.now(), self.settings.session_idle_s):
            if not board.kit.broker.in_flight(SessionId(board.tenant, board.session_id)):
                self.release(board)
                await asyncio.to_thread(board.log.flush)

    def log_path(self, tenant: str, session_id: str) -> Path | None:
        """Where this session's event log lies; None when none is kept."""
        if not (self.persist and self.settings.event_logs):
            return None
        return log_file(self.settings.data_dir, tenant, session_id)

    def _landed(self, board: Board, store: BaseStore | None, item: Item) -> None:
        """A fetch came home, perhaps long after its pass: it joins the slice by itself."""
        spec = board.kit.procedure.dependencies[item.dep]
        if spec.verified and not board.desk.verified:
            # Identity was doubted while it was under way.
            return
        board.pool.add(item, board.now_s)
        # Else it would be worth nothing until the next pass, and the first to go when another lands in a full pool.
        revalue(board)
        # A search brings thirty passages in one go: they are written once.
        if store is not None and board.published_turn and not board.publish_due:
            board.publish_due = True
            shared = self.settings.database_url is not None
            self.in_background(_published(board, store, shared=shared))

    def in_background(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _published(board: Board, store: BaseStore, *, shared: bool) -> None:
    board.publish_due = False
    await publish(board, store, board.published_turn, shared=shared)


@lru_cache(maxsize=1)
def process_services() -> Services:
    """The services behind the graphs that `langgraph.json` names; nothing is loaded until their first run."""
    return Services()
