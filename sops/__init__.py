"""Procedures: their format, loader and checks, and the three that come with the product."""

from sops.loader import ProcedureInvalid, ProcedureNotFound, load_procedure, names
from sops.models import Action, Cohort, Dependency, Fact, Mood, Procedure, State

__all__ = [
    "Action",
    "Cohort",
    "Dependency",
    "Fact",
    "Mood",
    "Procedure",
    "ProcedureInvalid",
    "ProcedureNotFound",
    "State",
    "load_procedure",
    "names",
]
