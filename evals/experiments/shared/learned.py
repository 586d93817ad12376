"""Puts recorded calls into a store of precedents, as the product does after each turn."""

from cuecard.models.embeddings import Embedder
from cuecard.precedents import Precedent, Precedents
from cuecard.predictors.bank import QuestionBank
from cuecard.predictors.types import TurnView
from evals.experiments.shared.recorded import history
from sops.loader import load_procedure

TENANT = "recorded"
BEGAN_AT = 1_700_000_000.0
"""Wall time of the first recorded call, for the store; calls follow each other by an hour."""


async def learned_bank(precedents: Precedents, sop: str, embedder: Embedder) -> QuestionBank:
    """A bank that has heard the history of this procedure and nothing else."""
    states = load_procedure(sop).states

    def asks(_: str, turn: TurnView) -> bool:
        return turn.state in states and states[turn.state].asks

    for n, call in enumerate(history(sop)):
        vectors = embedder.embed([view.utterance or "." for view in call.views])
        await precedents.record(
            [
                Precedent(
                    tenant=TENANT,
                    session=f"recorded-{call.seed}",
                    turn=turn + 1,
                    sop=call.sop,
                    action=view.action,
                    at=BEGAN_AT + 3600.0 * n + turn,
                    cohort=call.turns[turn]["cohort"],
                    mood=call.turns[turn]["mood"],
                    state=view.state,
                    source=view.source,
                    due=view.due,
                    utterance=view.utterance,
                    question=asks(sop, view),
                    embedding=vectors[turn] if view.utterance else None,
                )
                for turn, view in enumerate(call.views)
            ]
        )
    await precedents.flush()
    return QuestionBank(precedents, asks)
