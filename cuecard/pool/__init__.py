"""The pool: the few dozen items a session has ready, and the three that fit the words just said."""

from cuecard.pool.item import Item, Vector
from cuecard.pool.modes import (
    ConfidenceGate,
    Cosine,
    CosineThenLlm,
    Glance,
    KeyLookup,
    LlmRerank,
    Rerank,
    Selection,
)
from cuecard.pool.pieces import MOST_PIECES, pieces_of
from cuecard.pool.pool import BONUS_ASKED, CAP, DUPLICATE, PREVIOUS_TURN, Pick, Pool, context_query

__all__ = [
    "BONUS_ASKED",
    "CAP",
    "DUPLICATE",
    "MOST_PIECES",
    "PREVIOUS_TURN",
    "ConfidenceGate",
    "Cosine",
    "CosineThenLlm",
    "Glance",
    "Item",
    "KeyLookup",
    "LlmRerank",
    "Pick",
    "Pool",
    "Rerank",
    "Selection",
    "Vector",
    "context_query",
    "pieces_of",
]
