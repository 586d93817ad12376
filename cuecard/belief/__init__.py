"""Who is calling, in what mood, doing what: beliefs, and how words change them."""

from cuecard.belief.classifier import EmbeddedClassifier
from cuecard.belief.facts import FactExtractor, FactUpdate
from cuecard.belief.model_classifier import ModelClassifier
from cuecard.belief.types import Belief, Distribution, Top, top

__all__ = [
    "Belief",
    "Distribution",
    "EmbeddedClassifier",
    "FactExtractor",
    "FactUpdate",
    "ModelClassifier",
    "Top",
    "top",
]
