"""The thinking parts of the slow side, one for each procedure and tenant, made when first needed and then kept."""

import random
from typing import TYPE_CHECKING

from cuecard.belief.model_classifier import ModelClassifier
from cuecard.blackboard import Board
from cuecard.events import Event, Listener
from cuecard.habitual import ByHabits
from cuecard.kit import Kit
from cuecard.planning import ByValue, Nothing, Planner
from cuecard.precedents import Precedents
from cuecard.predictors.assemble import assemble
from cuecard.predictors.bank import QuestionBank
from cuecard.predictors.counts import CountSource, MemoryCounts
from cuecard.predictors.imagined_caller import ModelCaller, SampledCaller
from cuecard.predictors.llm import LLMPredictor
from cuecard.predictors.mcts import ImaginedCaller, MCTSPredictor
from cuecard.predictors.types import Predictor, TurnView
from cuecard.prefetch.allowance import Allowance
from cuecard.prefetch.events import FetchEnded
from cuecard.prefetch.scheduler import Scheduler
from cuecard.taught import Taught
from sops.models import Procedure

if TYPE_CHECKING:
    from cuecard.services import Services


class Minds:
    """Who classifies, predicts, searches and plans for a board."""

    def __init__(self, services: "Services") -> None:
        self._services = services
        self._by_value: dict[str, ByValue] = {}
        self._by_habits: dict[tuple[str, str], ByHabits] = {}
        self._classifiers: dict[str, ModelClassifier] = {}
        self._searches: dict[str, MCTSPredictor] = {}
        self._predictors: dict[tuple[str, str], Predictor] = {}
        self._bank: QuestionBank | None = None

    def planner(self, board: Board) -> Planner:
        """Who decides for this session what to fetch early."""
        if board.planner is not None:
            return board.planner  # type: ignore[no-any-return]
        if board.context.prefetch == "none":
            return Nothing()
        ours = self._services.settings.price_s
        price_s = board.context.price_s if board.context.price_s is not None else ours
        key = f"{board.kit.path}@{price_s}"
        if key not in self._by_value:
            self._by_value[key] = ByValue(board.kit.procedure, price_s)
        if self._services.precedents is None:
            return self._by_value[key]
        if (board.tenant, key) not in self._by_habits:
            taught = self._taught(board, self._services.precedents, self._by_value[key].scheduler)
            self._by_habits[board.tenant, key] = ByHabits(self._by_value[key], taught)
        return self._by_habits[board.tenant, key]

    def _taught(self, board: Board, precedents: Precedents, scheduler: Scheduler) -> Taught:
        return Taught(
            precedents,
            board.tenant,
            board.kit.procedure,
            board.kit.embed,
            self._services.in_background,
            scheduler.latencies_s,
            scheduler.price_s,
            Allowance(self._services.settings.waste_allowance),
        )

    def time_sources(self, board: Board) -> Listener:
        """Lets the scheduler learn, over all of the process's calls, how long each source really takes."""

        def learn(event: Event) -> None:
            planner = self.planner(board) if isinstance(event, FetchEnded) else None
            if isinstance(event, FetchEnded) and event.how == "landed" and isinstance(planner, ByValue | ByHabits):
                planner.scheduler.learn_latency(event.dep, event.took_s)

        return learn

    def classifier(self, kit: Kit) -> ModelClassifier | None:
        """The slow model's classifier; None without a model."""
        chat = self._services.slow_chat
        if chat is None:
            return None
        name = kit.procedure.name
        if name not in self._classifiers:
            self._classifiers[name] = ModelClassifier(kit.procedure, kit.classifier, chat.structured)
        return self._classifiers[name]

    def predictor(self, board: Board) -> Predictor:
        """The tenant's predictor for this procedure.

        Counts of its precedents on the drawn graph, the trained model where there is one, and a call to the slow model
        while there is little to count: it predicts as well as tree search at a fraction of the tokens (evidence 2).
        """
        key = (board.tenant, board.kit.procedure.name)
        if key not in self._predictors:
            stored = self._services.precedents
            counts: CountSource = MemoryCounts() if stored is None else stored.counts(board.tenant)
            settings, chat, procedure = self._services.settings, self._services.slow_chat, board.kit.procedure
            self._predictors[key] = assemble(
                counts,
                lambda _: board.kit.prior,
                model=settings.learned_model,
                cold=LLMPredictor(chat, {procedure.name: procedure}.get) if chat is not None else None,
                thompson=random.Random(self._services.seed) if settings.thompson else None,
            )
        return self._predictors[key]

    def predict_with(self, tenant: str, procedure: str, predictor: Predictor) -> None:
        """From now on this one predicts the tenant's calls of this procedure; comparisons put theirs here."""
        self._predictors[tenant, procedure] = predictor

    def bank(self) -> QuestionBank | None:
        """Questions of other callers; None where nothing is kept."""
        if self._bank is None and self._services.precedents is not None:
            self._bank = QuestionBank(self._services.precedents, self._asks)
        return self._bank

    def ponders(self, board: Board) -> bool:
        """Whether this pass searches the tree: only where it was asked for."""
        wanted = board.context.search
        return wanted if wanted is not None else self._services.settings.search

    def search(self, kit: Kit) -> MCTSPredictor:
        """The tree search of this procedure, its caller played by the slow model where there is one."""
        name = kit.procedure.name
        if name not in self._searches:
            chat = self._services.slow_chat

            def caller_of(procedure: Procedure) -> ImaginedCaller:
                return SampledCaller(procedure) if chat is None else ModelCaller(procedure, chat)

            rng = random.Random(self._services.seed)
            self._searches[name] = MCTSPredictor({name: kit.procedure}.get, caller_of, rng)
        return self._searches[name]

    def _asks(self, sop: str, turn: TurnView) -> bool:
        """Whether the caller asked in that turn what documents may answer."""
        states = (kit.procedure.states.get(turn.state) for kit in self._services.kits() if kit.procedure.name == sop)
        return any(state is not None and state.asks for state in states)
