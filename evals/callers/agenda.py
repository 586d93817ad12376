"""A caller before the call: who they are, what they want, what they know, and what they will get wrong."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from evals.callers.noise import Noise, draw_noise
from evals.callers.questions import Question
from evals.callers.traits import Manner, manner_of
from evals.callers.wording import FactWords, Goal, Wording
from sops.models import Procedure
from sops.tables import Tables

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Agenda:
    """Drawn once; the call is played from it."""

    cohort: str
    mood: str
    goal: str
    ends: str
    """done, closed or person: what counts as reached."""
    facts: dict[str, str] = field(default_factory=dict)
    """What is true of this person, as the back office writes it."""
    wrong: dict[str, str] = field(default_factory=dict)
    """What they say first instead, of some facts."""
    questions: tuple[Question, ...] = ()
    objections: int = 0
    """Offers they object to before they give in (or leave)."""
    leaves_over_it: bool = False
    changes_mind: bool = False
    """Says no at the read-back, and yes when asked again."""
    manner: Manner = field(default_factory=Manner)
    noise: Noise = field(default_factory=Noise)


def draw_agenda(
    procedure: Procedure, tables: Tables, wording: Wording, questions: Sequence[Question], rng: random.Random
) -> Agenda:
    """A caller as the procedure's priors have them; the same `rng` gives the same person."""
    cohort = weighted({name: c.prior for name, c in procedure.cohorts.items()}, rng)
    mood = weighted({name: m.prior for name, m in procedure.cohorts[cohort].moods.items()}, rng)
    goal = weighted({name: g.cohorts.get(cohort, g.weight) for name, g in wording.goals.items()}, rng)
    wanted = wording.goals[goal]
    manner = manner_of((*wording.traits.get(cohort, ()), *wording.traits.get(mood, ())))
    facts = _person(wording, wanted, tables, rng)
    wrong = {
        name: _other(value, wording.facts[name], rng)
        for name, value in facts.items()
        if name in wording.facts and name not in wanted.facts and rng.random() < wording.facts[name].p_wrong
    }
    offers = 2 if rng.random() < 0.3 else 1
    return Agenda(
        cohort=cohort,
        mood=mood,
        goal=goal,
        ends=wanted.ends,
        facts=facts,
        wrong={name: value for name, value in wrong.items() if value != facts[name]},
        questions=_questions(wanted, manner, questions, rng),
        objections=offers if wording.haggles and rng.random() < manner.objects else 0,
        leaves_over_it=rng.random() < manner.walks,
        changes_mind=rng.random() < 0.05,
        manner=manner,
        noise=draw_noise(rng),
    )


def weighted(weights: Mapping[str, float], rng: random.Random) -> str:
    return rng.choices(list(weights), weights=list(weights.values()))[0]


def _person(wording: Wording, goal: Goal, tables: Tables, rng: random.Random) -> dict[str, str]:
    """One row of the back office, and what its person may choose freely."""
    columns = [fact.column for fact in wording.facts.values() if "." in fact.column]
    keys = sorted(tables[columns[0].partition(".")[0]]) if columns else []
    key = rng.choice(keys) if keys else ""
    facts: dict[str, str] = {}
    for name, words in wording.facts.items():
        table, _, column = words.column.partition(".")
        if words.column == "key" or column == "key":
            facts[name] = key
        elif words.column:
            facts[name] = str(tables[table][key][column])
        elif words.numbers is not None:
            facts[name] = str(rng.randrange(words.numbers.low, words.numbers.high + 1, words.numbers.step))
        elif words.values:
            facts[name] = weighted(words.values, rng)
    return {name: value for name, value in (facts | goal.facts).items() if name not in goal.lacks}


def _other(value: str, words: FactWords, rng: random.Random) -> str:
    """A value somebody might say by mistake in place of this one."""
    if words.numbers is not None:
        step = max(words.numbers.step, 1)
        return str(max(step, int(value) + step * rng.choice((-4, -2, 2, 4))))
    if words.values:
        others = [name for name in words.values if name != value]
        return rng.choice(others) if others else value
    at = [place for place, letter in enumerate(value) if letter.isdigit()]
    if not at:
        return value
    place = at[-1] if words.form == "digits" else at[0]
    return value[:place] + str((int(value[place]) + rng.choice((1, 2))) % 10 or 1) + value[place + 1 :]


def _questions(goal: Goal, manner: Manner, questions: Sequence[Question], rng: random.Random) -> tuple[Question, ...]:
    n = rng.choices(range(len(goal.n_questions)), weights=goal.n_questions)[0]
    if n and rng.random() < manner.follow_up:
        n += 1
    return tuple(rng.sample(list(questions), min(n, len(questions))))
