"""Predictors side by side on simulated calls: next action, source, the documents a question will need, tokens, time."""

from evals.predictors.compare import compare
from evals.predictors.handoff import handoff
from evals.predictors.record import Call, record_calls

__all__ = ["Call", "compare", "handoff", "record_calls"]
