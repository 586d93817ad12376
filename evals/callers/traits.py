"""What a disposition does to behaviour: rates of side remarks, patience and pace, the same for every procedure."""

from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Manner:
    """Rates per turn unless said otherwise."""

    small_talk: float = 0.02
    worries: float = 0.015
    hesitates: float = 0.025
    unclear: float = 0.015
    annoyed: float = 0.01
    objects: float = 0.25
    """P(an offer is first met with an objection)."""
    walks: float = 0.04
    """P(an unanswered objection ends in leaving)."""
    details_at_once: float = 0.25
    """P(the opening words already hold what will be asked for)."""
    in_pieces: float = 0.25
    """P(of two facts asked for together, only one is given)."""
    late: float = 0.05
    """P(a fact has to be looked for first), once a call."""
    follow_up: float = 0.15
    """P(one more question than planned, after an answer)."""
    barges_in: float = 0.03
    silent: float = 0.02
    """P(a long silence before the words)."""
    person: float = 0.005
    """P(a person is asked for although nothing went wrong)."""
    patience: float = 3.0
    """Repeats (and, where waits are felt, every `Mood.WAIT_S` of waiting) it takes to lose it."""
    hurry: float = 1.0
    """Factor on pauses."""


_CHANGES: dict[str, dict[str, float]] = {
    "hurried": {"hurry": 0.6, "details_at_once": 0.5, "small_talk": 0.0, "barges_in": 0.12, "patience": 2.0},
    "chatty": {"small_talk": 0.14, "hurry": 1.15, "patience": 5.0},
    "worried": {"worries": 0.14, "hesitates": 0.05},
    "unsure": {"hesitates": 0.1, "unclear": 0.05, "in_pieces": 0.4},
    "haggling": {"objects": 0.75, "walks": 0.1},
    "annoyed": {"annoyed": 0.12, "patience": 2.0, "person": 0.02, "small_talk": 0.0, "barges_in": 0.08},
    "curious": {"follow_up": 0.35},
    "slow": {"unclear": 0.09, "late": 0.15, "silent": 0.07, "hurry": 1.25, "in_pieces": 0.45},
    "wary": {"worries": 0.09, "late": 0.1, "objects": 0.4},
    "distracted": {"unclear": 0.08, "silent": 0.06, "in_pieces": 0.4},
}
TRAITS = frozenset(_CHANGES)


def manner_of(traits: Iterable[str]) -> Manner:
    """Ordinary manners with the changes of each trait; of two that change the same rate the stronger one holds."""
    plain = Manner()
    changed: dict[str, float] = {}
    for trait in traits:
        for name, value in _CHANGES[trait].items():
            base = getattr(plain, name)
            if name not in changed or abs(value - base) > abs(changed[name] - base):
                changed[name] = value
    return Manner(**{f.name: changed.get(f.name, getattr(plain, f.name)) for f in fields(plain)})
