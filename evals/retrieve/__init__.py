"""Does search find the document that answers a caller, from the live words and from what was known a turn before?"""

from evals.retrieve.questions import CORPORA, Question, load_questions
from evals.retrieve.run import bench

__all__ = ["CORPORA", "Question", "bench", "load_questions"]
