"""Who is calling, in what mood, doing what: beliefs, and how words change them."""

from cuecard.belief.classifier import EmbeddedClassifier
from cuecard.belief.types import Belief, Distribution, Top, top

__all__ = ["Belief", "Distribution", "EmbeddedClassifier", "Top", "top"]
