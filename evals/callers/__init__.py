"""Simulated callers: people with an agenda, who know nothing of what works ahead on the other side."""

from evals.callers.agenda import Agenda, draw_agenda
from evals.callers.caller import AgendaCaller, CallerTurn, Cue
from evals.callers.questions import Question, load_questions
from evals.callers.wording import Wording, load_wording

__all__ = [
    "Agenda",
    "AgendaCaller",
    "CallerTurn",
    "Cue",
    "Question",
    "Wording",
    "draw_agenda",
    "load_questions",
    "load_wording",
]
