"""Finds experiments by folder: `e08/run.py` is E8. Nothing is imported until it is asked for."""

import importlib
from pathlib import Path

from cuecard.errors import CuecardError
from evals.experiments.types import Experiment

_HERE = Path(__file__).parent


class UnknownExperiment(CuecardError):
    """No folder holds an experiment of that name; the message lists those there are."""


def names() -> list[str]:
    return [f"E{int(path.parent.name[1:])}" for path in sorted(_HERE.glob("e[0-9][0-9]/run.py"))]


def load(name: str) -> Experiment:
    """The experiment, by a name such as E8, e8 or e08."""
    digits = name[1:]
    if name[:1].upper() != "E" or not digits.isdigit() or f"E{int(digits)}" not in names():
        raise UnknownExperiment(f"There is no experiment {name}; there are {', '.join(names())}, and all.")
    module = importlib.import_module(f"evals.experiments.e{int(digits):02d}.run")
    found: Experiment = module.EXPERIMENT
    return found
