"""How well callers are understood: labelled utterances, scored as the supervisor would judge them."""

from evals.classify.examples import Example, read_examples, shipped_sets
from evals.classify.scores import Scores, score

__all__ = ["Example", "Scores", "read_examples", "score", "shipped_sets"]
