"""What is evaluated on each dataset: the product's own part, and the evaluators that judge it."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from langsmith.run_helpers import tracing_context

from cuecard.belief.classifier import EmbeddedClassifier
from cuecard.belief.types import Belief, Distribution
from cuecard.context import Context
from cuecard.models.embeddings import load_embedder
from cuecard.pool import Item, Pool, context_query
from cuecard.predictors.counts import MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.predictors.types import SessionView, TurnView
from evals import evaluators
from sops.loader import load_procedure

Target = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class Job(NamedTuple):
    target: Target
    evaluators: tuple[Callable[..., dict[str, Any]], ...]


def job_of(dataset: str, stack: AsyncExitStack) -> Job:
    """`stack` closes what a target opens."""
    match dataset:
        case "next_action":
            judges = (evaluators.next_action_top1, evaluators.next_action_top3, evaluators.source_top1)
            return Job(_next_action, judges)
        case "state":
            return Job(_state, (evaluators.state_accuracy, evaluators.state_top3))
        case "query":
            return Job(_Search(stack).search, (evaluators.document_recall_at_3,))
        case "pool":
            return Job(_pool, (evaluators.gold_in_picks, evaluators.nothing_shown_when_nothing_fits))
        case _:
            return Job(_Calls(stack).play, (evaluators.goal_reached, evaluators.same_steps, evaluators.waiting_s))


def view_of(inputs: dict[str, Any]) -> SessionView:
    """The call so far, as a predictor sees it."""
    mood = f"{inputs['cohort']}/{inputs['mood']}"
    return SessionView(
        sop=inputs["sop"],
        turns=tuple(TurnView(**turn) for turn in inputs["turns"]),
        belief=Belief(cohort={inputs["cohort"]: 1.0}, mood={mood: 1.0}) if inputs["cohort"] else Belief(),
        facts=frozenset(inputs["facts"]),
        verified=inputs["verified"],
        done=frozenset(inputs["done"]),
    )


async def _next_action(inputs: dict[str, Any]) -> dict[str, Any]:
    forecast = await EmpiricalPredictor(MemoryCounts(), prior_of).predict(view_of(inputs))
    return {
        "actions": [_ranked(one) for one in forecast.actions],
        "sources": [_ranked(one) for one in forecast.sources],
    }


@lru_cache(maxsize=8)
def prior_of(sop: str) -> ProcedurePrior:
    return ProcedurePrior(load_procedure(sop))


def _ranked(p: Distribution) -> list[str]:
    return sorted(p, key=lambda name: -p[name])[:5]


@lru_cache(maxsize=8)
def _classifier(sop: str) -> EmbeddedClassifier:
    return EmbeddedClassifier(load_procedure(sop), load_embedder().embed)


async def _state(inputs: dict[str, Any]) -> dict[str, Any]:
    belief = _classifier(inputs["sop"]).judge_text(inputs["utterance"], inputs["action"] or None, Belief())
    return {"states": _ranked(belief.state)}


class _Search:
    """The live question against its corpus, with a little of the turn before, as the pool does it."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._indexes: dict[str, Any] = {}

    async def search(self, inputs: dict[str, Any]) -> dict[str, Any]:
        from corpus import open_index

        embedder = load_embedder()
        name = inputs["corpus"]
        if name not in self._indexes:
            self._indexes[name] = open_index(name, embedder.embed, None)
            self._stack.callback(self._indexes[name].close)
        words, before = embedder.embed([inputs["question"], inputs["previous_caller"]])
        hits = self._indexes[name].search_now(vector=context_query(words, before), k=3)
        return {"doc_ids": [hit.doc_id for hit in hits]}


async def _pool(inputs: dict[str, Any]) -> dict[str, Any]:
    items = inputs["items"]
    vectors = load_embedder().embed([inputs["words"], inputs["previous"] or "", *(item["text"] for item in items)])
    pool = Pool(max(30, len(items)))
    for item, vector in zip(items, vectors[2:], strict=True):
        pool.add(Item(item["id"], item["dep"], item["text"], vector=vector))
    query = context_query(vectors[0], vectors[1] if inputs["previous"] else None)
    return {"picks": [pick.item.id for pick in pool.pick(np.asarray(query, np.float32))]}


class _Calls:
    """The recorded words again, with working ahead switched on."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._bench: Any = None

    async def play(self, inputs: dict[str, Any]) -> dict[str, Any]:
        # The graphs inside would otherwise send a trace of every step to LangSmith, even where results stay at home.
        with tracing_context(enabled=False):
            return await self._played(inputs)

    async def _played(self, inputs: dict[str, Any]) -> dict[str, Any]:
        from cuecard.session import Engine

        if self._bench is None:
            self._bench = await self._stack.enter_async_context(Engine.open(persist=False))
        context = Context(tenant="evaluated")
        session = await self._bench.session(inputs["sop"], session_id=f"evaluated-{inputs['seed']}", context=context)
        actions, stall_s = [(await session.greet()).action], 0.0
        for words in inputs["words"]:
            if words and not session.reply.ended:
                reply = await session.ask(words)
                actions.append(reply.action)
                stall_s += reply.stall_s
        await session.hang_up()
        outcome = session.board.desk.outcome
        return {"actions": actions, "stall_s": stall_s, "outcome": outcome, "reached": outcome == "success"}
