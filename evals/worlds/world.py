"""The definition of a world: who calls, what each step needs, how long everything takes. All draws are seeded.

Parameters and order of draws are those of the study behind docs/decisions/0140, so that rows compare.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

GREET, VERIFY, ANSWER, CLOSE = 0, 1, 8, 9
ACTIONS = ("greet", "verify", "policy", "price", "market", "coverage", "discount", "objection", "answer", "close")
MIDDLE = list(range(2, 9))
WRITE_S = 1.5
Floats = npt.NDArray[np.floating[Any]]


class Need(NamedTuple):
    """One item a turn can't do without: a declared record, a question's answer, or the write."""

    kind: str
    """record, question or write."""
    n: int = 0


class Turn(NamedTuple):
    action: int
    needs: tuple[Need, ...]
    speech_s: float
    gap_s: float
    cohort: int


@dataclass(frozen=True)
class Shape:
    """Parameters of a world and of the machinery it runs on."""

    records: int = 6
    topics: int = 40
    p_answer: float = 0.35
    ttl_s: float = 1e9
    gap_s: tuple[float, float] = (1.5, 4.0)
    speech_s: tuple[float, float] = (2.5, 7.0)
    identity_turn: int = 1
    pipes: int = 8
    budget: int | None = None
    supervisor_s: float = 1.0
    latency_s: tuple[float, float] = (0.4, 7.0)
    turns: tuple[int, int] = (9, 16)
    cohorts: int = 4
    zipf: float = 1.1
    follow: float = 0.5
    favourite: float = 0.6


@dataclass
class World:
    """One world drawn from its shape: latencies, habits of its cohorts, and what each action touches."""

    shape: Shape
    seed: int
    record_s: Floats = field(init=False)
    topic_s: Floats = field(init=False)
    steps: Floats = field(init=False)
    popularity: Floats = field(init=False)
    successors: npt.NDArray[np.integer[Any]] = field(init=False)
    touches: dict[tuple[int, int], tuple[int, ...]] = field(init=False)

    def __post_init__(self) -> None:
        shape, dice = self.shape, np.random.default_rng(self.seed)
        low, high = shape.latency_s
        drawn = np.exp(dice.uniform(np.log(low), np.log(high), shape.records))
        self.record_s = np.clip(drawn * (3.0 / drawn.mean()), low, high)
        self.topic_s = np.clip(dice.normal(1.6, 0.4, shape.topics), 0.6, 3.0)
        self.steps = np.zeros((shape.cohorts, len(ACTIONS), len(ACTIONS)))
        for cohort in range(shape.cohorts):
            for action in MIDDLE:
                self.steps[cohort, action] = self._step(dice)
        ranks = 1 / np.arange(1, shape.topics + 1) ** shape.zipf
        popularity = np.stack([dice.permutation(ranks) for _ in range(shape.cohorts)])
        self.popularity = popularity / popularity.sum(axis=1, keepdims=True)
        self.successors = dice.integers(0, shape.topics, (shape.topics, 3))
        self.touches = self._touches(dice)

    def _step(self, dice: np.random.Generator) -> Floats:
        """Where one action leads: a favourite, a little of everything, and questions at their fixed rate."""
        p = np.zeros(len(ACTIONS))
        favourite = dice.choice(MIDDLE)
        p[MIDDLE] = dice.dirichlet(np.ones(len(MIDDLE)) * 0.5) * (1 - self.shape.favourite)
        p[favourite] += self.shape.favourite
        if p.sum() > p[ANSWER]:
            p *= (1 - self.shape.p_answer) / max(1e-9, p.sum() - p[ANSWER])
        p[ANSWER] = self.shape.p_answer
        return np.asarray(p / p.sum())

    def _touches(self, dice: np.random.Generator) -> dict[tuple[int, int], tuple[int, ...]]:
        """(action, cohort) to the records it needs: one each in a small world, one or two at random in a large one."""
        keys = [(action, cohort) for action in MIDDLE for cohort in range(self.shape.cohorts)]
        n = self.shape.records
        if n <= 8:
            return {key: ((key[0] - 2) % n,) for key in keys}
        for _ in keys:
            dice.choice(n, 1, replace=False)  # a first assignment that the study drew and overwrote
        touches = {}
        for key in keys:
            how_many = 1 + int(dice.random() < 0.4)
            touches[key] = tuple(int(record) for record in dice.choice(n, how_many, replace=False))
        return touches

    def call(self, dice: np.random.Generator) -> list[Turn]:
        """One scripted call. What is needed does not depend on what was fetched."""
        shape = self.shape
        cohort = int(dice.integers(shape.cohorts))
        n_turns = int(dice.integers(*shape.turns))
        action, last, turns = 2, None, []
        for k in range(n_turns):
            now = self._now(k, n_turns, action)
            needs: tuple[Need, ...] = ()
            if now == ANSWER:
                last = self._question(dice, cohort, last)
                needs = (Need("question", last),)
            elif now in MIDDLE:
                needs = tuple(Need("record", record) for record in self.touches[now, cohort])
            elif now == CLOSE:
                needs = (Need("write"),)
            speech_s, gap_s = float(dice.uniform(*shape.speech_s)), float(dice.uniform(*shape.gap_s))
            turns.append(Turn(now, needs, speech_s, gap_s, cohort))
            if k > shape.identity_turn or k == 0:
                action = int(dice.choice(len(ACTIONS), p=self.steps[cohort, action]))
        return turns

    def _now(self, k: int, n_turns: int, action: int) -> int:
        if k == 0:
            return GREET
        if k == self.shape.identity_turn:
            return VERIFY
        return CLOSE if k == n_turns - 1 else action

    def _question(self, dice: np.random.Generator, cohort: int, last: int | None) -> int:
        if last is not None and dice.random() < self.shape.follow:
            return int(dice.choice(self.successors[last]))
        return int(dice.choice(self.shape.topics, p=self.popularity[cohort]))

    def latency_s(self, need: Need) -> float:
        match need.kind:
            case "record":
                return float(self.record_s[need.n])
            case "question":
                return float(self.topic_s[need.n])
            case _:
                return WRITE_S


WORLDS = {
    "W1": Shape(p_answer=0.0),
    "W2": Shape(),
    "W2f": Shape(topics=400),
    "W3": Shape(records=40, pipes=2),
    "W3b": Shape(records=40, budget=15),
    "W3c": Shape(records=40),
    "W4": Shape(ttl_s=20.0),
    "W5": Shape(speech_s=(0.8, 2.0), gap_s=(0.3, 1.0)),
    "W6": Shape(identity_turn=5),
    "W7": Shape(supervisor_s=6.0),
}
"""Six declared records; with questions; with fine-grained ones; many records on two pipes, with a budget, without;
with expiry; hurried; identity late; a slow supervisor."""

DESCRIPTIONS = {
    "W1": "six items, no questions",
    "W2": "W1 and 35 % free questions over 40 topics",
    "W2f": "W2 with 400 fine topics",
    "W3": "40 items, 2 pipes, 35 % questions",
    "W3b": "W3 with 8 pipes and a budget of 15",
    "W3c": "W3 with 8 pipes",
    "W4": "W2 with a time to live of 20 s",
    "W5": "W2 with hurried turns",
    "W6": "W2 with identity only at turn 5",
    "W7": "W2 with a supervisor of 6 s",
}
