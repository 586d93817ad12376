"""Past turns, kept for learning: counts for prediction, words for likeness, questions for the bank."""

from cuecard.precedents.redact import Redactor
from cuecard.precedents.store import Precedents
from cuecard.precedents.types import Precedent, Similar

__all__ = ["Precedent", "Precedents", "Redactor", "Similar"]
