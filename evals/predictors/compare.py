"""`cuecard bench predictors`: empirical, LLM, tree search and garbage on the same simulated calls."""

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Any

import corpus
from cuecard.models.chat import Chat, build_chat
from cuecard.models.embeddings import load_embedder
from cuecard.models.tokens import counter
from cuecard.predictors.counts import MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.garbage import GarbagePredictor
from cuecard.predictors.imagined_caller import SampledCaller
from cuecard.predictors.llm import LLMPredictor
from cuecard.predictors.mcts import MCTSPredictor
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.predictors.types import Predictor
from cuecard.settings import Settings
from evals.predictors.asked import AskedBefore
from evals.predictors.record import counted, record_calls
from evals.predictors.score import documents_of, score
from evals.predictors.stand_in import StandIn
from sops import load_procedure

_GRAINS = ("query_coarse", "query_fine", "query_large")
STAND_IN = "stand-in: no model is configured (OPENAI_API_KEY or OPENAI_BASE_URL), so the llm row says what a call costs"


def compare(
    sop: str,
    settings: Settings,
    *,
    n_train: int,
    n_test: int,
    corpora: Mapping[str, str],
    seed_base: int = 0,
    on_step: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Simulated calls: `n_train` are counted, the next `n_test` scored. One row a predictor.

    `corpora`: by grain (coarse, fine, large) the corpus that predicted questions are put to; a grain that is left out
    has nulls.
    """
    procedure = load_procedure(sop)
    on_step("playing calls")
    calls = record_calls(sop, range(seed_base, seed_base + n_train + n_test))
    train, test = calls[:n_train], calls[n_train:]
    embed = load_embedder(settings.embedding_model).embed
    indexes = settings.data_dir / "indexes"
    found = {grain: documents_of(corpus.open_index(name, embed, indexes)) for grain, name in corpora.items()}

    def asks(state: str) -> bool:
        return procedure.states[state].asks if state in procedure.states else False

    prior = ProcedurePrior(procedure)
    known = {procedure.name: procedure}
    empirical = EmpiricalPredictor(counted(procedure.name, train, prior), lambda _: prior)
    predictors: dict[str, Predictor] = {
        "empirical": AskedBefore(empirical, train, asks, embed),
        "graph": EmpiricalPredictor(MemoryCounts(), lambda _: prior),
        "mcts": MCTSPredictor(known.get, SampledCaller, random.Random(seed_base)),
        "garbage": GarbagePredictor(known.get, random.Random(seed_base)),
    }
    configured = build_chat(settings, counter())
    chat = configured or Chat(StandIn(), settings.chat_timeout_s, counter())
    predictors["llm"] = LLMPredictor(chat, known.get)

    async def run() -> dict[str, Any]:
        rows: dict[str, Any] = {}
        for name, predictor in predictors.items():
            on_step(name)
            rows[name] = dict.fromkeys(_GRAINS) | (await score(predictor, test, found, asks)).to_json()
        await chat.aclose()
        return rows

    rows = asyncio.run(run())
    return {
        "sop": procedure.name,
        "simulated": True,
        "n_train": n_train,
        "n_test": n_test,
        "model": settings.chat_model if configured is not None else STAND_IN,
        "predictors": rows,
    }
