"""What both graphs share about one session, in memory, and the only place that knows where it lies in the store.

The process that owns a session reads its board from memory. Any other does one read and gets the last published slice.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langgraph.store.base import BaseStore

from cuecard.belief.types import Belief
from cuecard.context import Context
from cuecard.events import Degraded, EventLog
from cuecard.kit import Kit
from cuecard.other_version import carry_over, known_turns, version_in
from cuecard.policy import Desk, step_done
from cuecard.pool import Pick, Pool
from cuecard.predictors.types import Forecast, SessionView, TurnView, Vector
from cuecard.prefetch.asked import Asked
from cuecard.prefetch.flight import Flight
from cuecard.prefetch.jobs import Known
from cuecard.prefetch.partials import PartialListener
from cuecard.prefetch.types import FetchJob, FetchKey
from cuecard.query_vectors import QueryVectors

MAX_TURNS = 40
"""Turns a predictor may look back on."""
_SLICE = "slice"


@dataclass(slots=True)
class Live:
    """The turn being answered: what its nodes hand each other and nobody keeps."""

    turn: int = 0
    utterance: str = ""
    vector: Vector | None = None
    picks: list[Pick] = field(default_factory=list)
    belief: Belief = field(default_factory=Belief)
    prior: Belief = field(default_factory=Belief)
    """The belief before these words."""
    told: set[str] = field(default_factory=set)
    """Facts that these words told or corrected."""
    stall_s: float = 0.0
    model_s: float = 0.0
    held: bool = False
    """A holding phrase was said; one a turn is enough."""
    hushed: bool = False
    """The caller cut in: nothing more of this reply is said."""
    dropped: bool = False
    """The turn is being taken back: it may not write any more."""
    wrote: bool = False
    """A write has left: whatever the caller says meanwhile, the turn counts, as what was done is not undone."""
    prewritten: str = ""
    """A reply written ahead that fits these words; said as it stands."""
    answer: Any = None
    """The model's answer under way, when one call both decides and speaks."""
    write: Callable[[Any], None] = lambda _: None
    """Puts a piece of speech on the run's stream."""


@dataclass(slots=True)
class Board:
    """One session's blackboard. Only the process's event loop touches it."""

    tenant: str
    session_id: str
    kit: Kit
    context: Context
    log: EventLog
    pool: Pool
    planner: Any = None
    """Overrides who decides what to fetch early; None: the scheduler. Comparisons put their rules here."""
    desk: Desk = field(default_factory=Desk)
    belief: Belief = field(default_factory=Belief)
    forecast: Forecast = field(default_factory=Forecast)
    turns: list[TurnView] = field(default_factory=list)
    turn: int = 0
    committed: int = 0
    """Turns that this board knows to be in the checkpoint. Behind it: another process took turns meanwhile."""
    recorded: int = 0
    """Turns up to here are kept as precedents."""
    fitted_from: str = ""
    """Mark of the other version from which the desk was last brought to this one, so that it is told once."""
    retaken: set[int] = field(default_factory=set)
    """Turns that were taken back: what is kept of them as precedents has to go when others take their place."""
    turn_key: str = ""
    """Identity of the request behind the next turn, kept with its words, so that a repeat can be told."""
    published_turn: int = 0
    publish_due: bool = False
    """Something landed and the slice is about to be written with it, and with all that lands until then."""
    live: Live = field(default_factory=Live)
    listener: PartialListener | None = None
    """Hears unfinished words; set by whoever owns the session's ears."""
    previous_vector: Vector | None = None
    asked: Asked = field(default_factory=Asked)
    """Questions sent out ahead, by meaning: the final words are never quite the same."""
    query_vectors: QueryVectors = field(init=False)

    def __post_init__(self) -> None:
        self.query_vectors = QueryVectors(self.kit.embed)

    sent: dict[FetchKey, tuple[Flight, float]] = field(default_factory=dict)
    """Fetches sent ahead, and when: one that found nothing leaves no item behind to tell."""

    @property
    def now_s(self) -> float:
        return self.log.clock()

    planned: dict[str, FetchJob] = field(default_factory=dict)
    """Jobs the last plan laid out, by name, for the prefetch branches to take."""
    worth_s: dict[str, float] = field(default_factory=dict)
    """Seconds that one item of each dependency is still expected to save, as the last pass saw it."""
    pondered: dict[str, str] = field(default_factory=dict)
    """Caller state to the step the background search would take."""

    def say(self, text: str) -> None:
        """Speak: the piece goes out on the turn's stream at once."""
        if not self.live.hushed:
            self.live.write({"say": text})

    def hold(self, phrase: str) -> None:
        """Ask for patience before a wait; only the first time in a turn."""
        if phrase and not self.live.held:
            self.live.held = True
            self.live.write({"hold": phrase})

    def known(self, partial: dict[str, str] | None = None) -> Known:
        """What a fetch may use now; `partial` adds facts from words that are not final yet."""
        belief = self.belief
        words = {"cohort": belief.likely_cohort, "mood": belief.likely_mood, "state": belief.likely_state}
        return Known(
            tenant=self.tenant,
            session=self.session_id,
            facts=self.desk.facts | (partial or {}),
            epochs=self.desk.fact_epochs,
            verified=self.desk.verified and not self._doubted(partial or {}),
            turn=self.turn,
            words={**words, "action": self.desk.last_action},
        )

    def _doubted(self, partial: dict[str, str]) -> bool:
        """Whether half-heard words put another identity in place of the verified one."""
        verifying = self.kit.procedure.verifying
        return any(value != self.desk.facts.get(name) for name, value in partial.items() if name in verifying)

    def view(self) -> SessionView:
        """What a predictor may see."""
        return SessionView(
            sop=self.kit.procedure.name,
            turns=tuple(self.turns),
            belief=self.belief,
            facts=frozenset(self.desk.facts),
            verified=self.desk.verified,
            done=frozenset(name for name in self.kit.procedure.path if step_done(self.kit.procedure, name, self.desk)),
            tenant=self.tenant,
        )

    def remember(self, view: TurnView) -> None:
        self.turns.append(view)
        del self.turns[:-MAX_TURNS]


def namespace(tenant: str, session_id: str) -> tuple[str, ...]:
    """Where a session lies in the store. Labels may not hold dots, and no tenant can spell another's path."""
    return ("cuecard", _label(tenant), _label(session_id))


def _label(name: str) -> str:
    return name.replace("%", "%25").replace(".", "%2E")


async def publish(board: Board, store: BaseStore, turn: int, *, shared: bool = False) -> bool:
    """Write the slice of `turn` unless a newer pass already did; one write. False: this pass is stale.

    Where the store is `shared` among processes, one that took the session over may be ahead: that is read first.
    """
    if turn < board.published_turn:
        return False
    there = await store.aget(namespace(board.tenant, board.session_id), _SLICE) if shared else None
    if there is not None and there.value["turn"] > turn:
        return False
    board.published_turn = turn
    value = {
        "turn": turn,
        # A fetch that lands between passes writes the slice too, which then holds a turn that no pass has seen.
        "committed": board.committed,
        "procedure": board.context.procedure,
        "made_under": board.kit.mark,
        "wall_at": time.time(),
        "pool": board.pool.to_json(board.now_s),
        "belief": board.belief.to_json(),
        "forecast": forecast_to_json(board.forecast),
        "turns": [[view.utterance, view.state, view.action, view.reply, view.source] for view in board.turns],
    }
    await store.aput(namespace(board.tenant, board.session_id), _SLICE, value, index=False)
    return True


async def procedure_of(tenant: str, session_id: str, store: BaseStore) -> str | None:
    """The procedure of a session that has published a slice, whichever process it belongs to."""
    found = await store.aget(namespace(tenant, session_id), _SLICE)
    return None if found is None else found.value.get("procedure")


async def restore(board: Board, store: BaseStore) -> bool:
    """Fill an empty board from the last published slice: the pool (older by the time away), belief and forecast."""
    found = await store.aget(namespace(board.tenant, board.session_id), _SLICE)
    if found is None:
        return False
    value = found.value
    away_s = max(0.0, time.time() - value["wall_at"])
    board.pool = Pool.from_json(value["pool"], board.now_s, away_s)
    board.belief = Belief.from_json(value["belief"])
    board.forecast = forecast_from_json(value["forecast"])
    board.turns = [TurnView(*row) for row in value["turns"]]
    board.published_turn, board.committed = value["turn"], value["committed"]
    if value.get("made_under") != board.kit.mark:
        _start_over(board)
    return True


def _start_over(board: Board) -> None:
    """The slice is of another version: guesses and fetches begin anew, what was written and said stays."""
    dependencies = board.kit.procedure.dependencies
    board.pool.remove(lambda item: item.dep not in dependencies or dependencies[item.dep].effect != "write")
    board.belief, board.forecast = Belief(), Forecast()
    board.turns = known_turns(board.kit.procedure, board.turns)


def take_desk(board: Board, saved: dict[str, Any] | None) -> None:
    """Put the saved desk on the board, fitted to the procedure as this process has it; what is lost is told."""
    board.desk = Desk.from_json(saved)
    under, board.desk.made_under = board.desk.made_under, board.kit.mark
    if not saved or under == board.kit.mark:
        return
    lost = carry_over(board.kit.procedure, board.desk)
    if board.fitted_from != under:
        board.fitted_from = under
        gone = f"gone with it: {', '.join(lost)}" if lost else "nothing of the call was lost"
        told = f"the call began on version {version_in(under)} and goes on under {board.kit.mark}; {gone}"
        board.log.emit(Degraded(part="procedure", reason=told))


def forecast_to_json(forecast: Forecast) -> dict[str, Any]:
    return {
        "actions": list(forecast.actions),
        "states": list(forecast.states),
        "sources": list(forecast.sources),
        "p_change": forecast.p_change,
        "by": forecast.by,
    }


def forecast_from_json(row: dict[str, Any]) -> Forecast:
    return Forecast(
        actions=tuple(row["actions"]),
        states=tuple(row["states"]),
        sources=tuple(row["sources"]),
        p_change=row["p_change"],
        by=row["by"],
    )
