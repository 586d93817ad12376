"""What a procedure's classifier learns from: its descriptions and examples, and what they become in live speech."""

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cuecard.belief.ear import Ear, Heard
from cuecard.belief.evidence import Callers
from cuecard.belief.features import Floats
from cuecard.belief.garbled import broken_off, stumbled
from cuecard.belief.head import Fitted, Head, Rows, Weights, fit
from sops.models import Procedure

STATE_WEIGHTS = Weights(embedding=0.0, near=1.4, ngrams=0.8, dense=0.4, ridge=1.0)
CALLER_WEIGHTS = Weights(embedding=1.0, ngrams=0.6, dense=0.2, ridge=1.0)
DESCRIPTION_TRUST = 0.5
COMPOUND_TRUST = 0.5
GARBLED_TRUST = 0.4
MANY = 1000
"""From so many examples on, each gets one of its three copies: enough variety, and a fit that stays under a minute."""
ANYBODY = 3.0
"""What anybody could say weighs as much as this many kinds of caller, when they are learned."""

OPENERS = (
    "hi um",
    "hello yeah so",
    "yeah okay",
    "um so",
    "right well",
    "okay thanks",
    "oh hi there",
    "well",
    "hello good morning",
    "yeah no",
    "uh basically",
    "so um yeah",
    "okay",
    "right",
    "sorry",
    "hi",
    "yes",
)
"""What people say before what they say. A greeting before a question leaves it a question."""
CLOSERS = ("please", "thanks", "you know", "if that makes sense", "is that alright", "yeah", "or something", "okay")


class Said(NamedTuple):
    text: str
    label: int
    trust: float


class Heads(NamedTuple):
    """The trained parts of one procedure's classifier."""

    state: Head
    cohort: Head
    mood: Head


def train_heads(procedure: Procedure, ear: Ear) -> Heads:
    """A second or two, mostly embedding. Same procedure, same heads."""
    return Heads(fit_states(procedure, ear).head, fit_cohorts(procedure, ear).head, fit_moods(procedure, ear).head)


def fit_states(procedure: Procedure, ear: Ear) -> Fitted:
    """Rows of one example and what becomes of it in live speech are held out together."""
    said: list[Said] = []
    for label, state in enumerate(procedure.states.values()):
        said.append(Said(state.description, label, DESCRIPTION_TRUST))
        said += [Said(example, label, 1.0) for example in state.examples]
    heard = ear.hear_all([one.text for one in said])
    examples = [i for i, one in enumerate(said) if one.trust == 1.0]
    compounded, *garbling = _turns(said, examples)
    groups = [*range(len(said)), *compounded]
    compounds = _Compounds(ear)
    heard += [compounds.around(said[i].text, heard[i].vector) for i in compounded]
    said += [Said("", said[i].label, COMPOUND_TRUST) for i in compounded]
    for garble, turn in zip((broken_off, stumbled), garbling, strict=True):
        changed = [(i, garbled) for i in turn if (garbled := garble(said[i].text)) != said[i].text]
        heard += ear.hear_all([garbled for _, garbled in changed]) if changed else []
        groups += [i for i, _ in changed]
        said += [Said(garbled, said[i].label, GARBLED_TRUST) for i, garbled in changed]
    return fit(_rows(said, heard, groups), len(procedure.states), STATE_WEIGHTS)


def _turns(said: Sequence[Said], examples: Sequence[int]) -> list[list[int]]:
    """Which examples get which of the three copies: all of each, or with MANY one each, by a hash of the words."""
    if len(examples) < MANY:
        return [list(examples)] * 3
    return [[i for i in examples if zlib.crc32(said[i].text.encode()) // 77 % 3 == turn] for turn in range(3)]


class _Compounds:
    """Examples with live speech around them.

    The embedding of "hi um" + words is near the mean of both weighted by length (cosine above .9), which saves a run of
    the embedding model for each.
    """

    def __init__(self, ear: Ear) -> None:
        self._ear = ear
        self._openers = ear.embed(OPENERS)
        self._closers = ear.embed(CLOSERS)

    def around(self, text: str, vector: Floats) -> Heard:
        """Which opener and closer depends on the text alone, so that a fit is the same tomorrow."""
        dice = zlib.crc32(text.encode())
        opener = dice % len(OPENERS)
        total = vector * (1 + len(text.split())) + self._openers[opener] * len(OPENERS[opener].split())
        words = f"{OPENERS[opener]} {text}"
        if dice // 1000 % 2:
            closer = dice // 7000 % len(CLOSERS)
            total = total + self._closers[closer] * len(CLOSERS[closer].split())
            words = f"{words} {CLOSERS[closer]}"
        unit: Floats = (total / np.linalg.norm(total)).astype(np.float32)
        return self._ear.hear(unit, words)


def fit_cohorts(procedure: Procedure, ear: Ear) -> Fitted:
    said: list[Said] = []
    for label, cohort in enumerate(procedure.cohorts.values()):
        said.append(Said(cohort.description, label, 1.0))
        said += [Said(example, label, 1.0) for example in cohort.examples]
    return _fit_callers(said, procedure, ear)


def fit_moods(procedure: Procedure, ear: Ear) -> Fitted:
    """One class a mood name: what "hurried" sounds like is shared between cohorts."""
    names = Callers(procedure).mood_names
    said: list[Said] = []
    for cohort in procedure.cohorts.values():
        for name, mood in cohort.moods.items():
            said.append(Said(mood.description, names.index(name), DESCRIPTION_TRUST))
            said += [Said(example, names.index(name), 1.0) for example in mood.examples]
    return _fit_callers(said, procedure, ear)


def _fit_callers(said: list[Said], procedure: Procedure, ear: Ear) -> Fitted:
    """The last class is what tells nothing of who is calling: the examples of the states."""
    label = max(one.label for one in said) + 1
    plain = [example for state in procedure.states.values() for example in state.examples]
    trust = ANYBODY * sum(one.trust for one in said) / label / len(plain)
    everything = [*said, *(Said(example, label, trust) for example in plain)]
    heard = ear.hear_all([one.text for one in everything])
    return fit(_rows(everything, heard, range(len(everything))), label + 1, CALLER_WEIGHTS)


def _rows(said: Sequence[Said], heard: Sequence[Heard], groups: Sequence[int]) -> Rows:
    return Rows(
        vectors=np.stack([one.vector for one in heard]),
        sparse=[one.sparse for one in heard],
        dense=np.stack([one.dense for one in heard]),
        labels=np.array([one.label for one in said]),
        groups=np.array(groups),
        weight=np.array([one.trust for one in said]),
    )
