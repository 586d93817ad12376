"""What one process of a run needs, opened when first asked for: an engine with a bench, an embedder, cached calls."""

import hashlib
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from corpus import Index, open_index
from cuecard.models.chat import build_chat
from cuecard.models.embeddings import Embedder, load_embedder
from cuecard.models.tokens import estimate
from cuecard.precedents import Precedents
from cuecard.predictors.bank import QuestionBank
from cuecard.predictors.types import Predictor
from cuecard.session import Engine
from cuecard.settings import Settings
from evals.calls.bench import OURS, Bench
from evals.calls.measures import Row as CallRow
from evals.calls.measures import rows_of
from evals.experiments.answers import Answers
from evals.experiments.memo import Memo
from evals.experiments.shared.learned import learned_bank
from evals.experiments.types import Options


class Tools:
    """Use as an async context manager, inside `run_virtual`."""

    def __init__(self, options: Options, settings: Settings, code: str, cache: Path | None) -> None:
        self.options = options
        self.settings = settings
        self._embedded = settings.model_copy(update={"openai_api_key": None, "openai_base_url": None})
        self._code = code
        self._cache = cache
        self._stack = AsyncExitStack()
        self._bench: Bench | None = None
        self._memo: Memo | None = None
        self._answers: Answers | None = None
        self._embedder: Embedder | None = None
        self._indexes: dict[str, Index] = {}
        self._banks: dict[str, QuestionBank] = {}

    async def __aenter__(self) -> "Tools":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def bench(self) -> Bench:
        """Plays calls without a chat model, whether or not there is one: a model is asked about them, apart."""
        if self._bench is None:
            self._bench = await self._stack.enter_async_context(Bench.open(self._embedded))
            services = (await self.engine()).services
            # Before the first procedure is made ready, so that all of it embeds through the memo.
            self._memo = services.embedder = Memo(services.embedder)
        return self._bench

    @property
    def answers(self) -> Answers | None:
        """The chat model's answers, each asked for once; None without a model."""
        if self._answers is None and (chat := build_chat(self.settings, estimate)) is not None:
            self._stack.push_async_callback(chat.aclose)
            folder = self._cache / "answers" if self._cache is not None else None
            self._answers = Answers(chat, self.settings.chat_model, folder)
        return self._answers

    async def engine(self) -> Engine:
        return (await self.bench()).engine

    async def predict_with(self, tenant: str, sop: str, predictor: Predictor) -> None:
        """From now on this predicts the calls of this tenant; policies of the bench are tenants of their own."""
        (await self.bench()).predict_with(tenant, sop, predictor)

    @property
    def embedder(self) -> Embedder:
        if self._embedder is None:
            self._embedder = load_embedder(self.settings.embedding_model)
        return self._embedder

    def index(self, corpus: str) -> Index:
        """A shipped corpus, searched in memory."""
        if corpus not in self._indexes:
            self._indexes[corpus] = open_index(corpus, self.embedder.embed, self.settings.data_dir / "indexes")
            self._stack.callback(self._indexes[corpus].close)
        return self._indexes[corpus]

    async def bank(self, sop: str) -> QuestionBank:
        """Questions of the recorded history, as a deployment would have kept them."""
        if sop not in self._banks:
            folder = Path(self._stack.enter_context(TemporaryDirectory()))
            precedents = await Precedents.open(folder / "precedents.sqlite", embedder=self.embedder)
            self._stack.push_async_callback(precedents.close)
            self._banks[sop] = await learned_bank(precedents, sop, self.embedder)
        return self._banks[sop]

    async def calls(
        self, sop: str, seed: int, policies: Sequence[str], *, price_s: float | None = None
    ) -> list[CallRow]:
        """One caller under several policies. The same code never plays the same call twice."""
        name = hashlib.sha256(f"{self._code} {sop} {seed} {sorted(policies)} {price_s}".encode()).hexdigest()[:24]
        path = self._cache / f"{name}.json" if self._cache is not None else None
        if path is not None and path.is_file():
            return [CallRow(**row) for row in orjson.loads(path.read_bytes())]
        rows = await self._compared(sop, seed, policies, price_s)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_bytes(orjson.dumps([row.to_json() for row in rows]))
            unfinished.rename(path)
        return rows

    async def _compared(self, sop: str, seed: int, policies: Sequence[str], price_s: float | None) -> list[CallRow]:
        """Embedding is two thirds of the work, and all policies hear the same words; only ours is timed, so it pays."""
        bench = await self.bench()
        assert self._memo is not None
        self._memo.begin(f"{sop}/{seed}")
        found: dict[str, CallRow] = {}
        for timed in (True, False):
            named = [policy for policy in policies if (policy == OURS and price_s is None) == timed]
            if named:
                self._memo.anew = timed
                rows = rows_of(await bench.compare(sop, seed, named, price_s=price_s))
                found |= {row.policy: row for row in rows}
        self._memo.anew = False
        return list(found.values())
