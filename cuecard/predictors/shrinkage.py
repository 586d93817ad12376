"""Thin contexts lean on wider ones, down to the drawn graph: the maths of the empirical predictor, free of any store.

Each level of a chain is a Dirichlet posterior whose prior mean is the level before it:
p(level) = (counts + strength x p(wider)) / (n + strength). Levels that look at something else than the chain's actions
(state, cohort, mood, the procedure before) are opinions beside the chain's: they are averaged, for multiplying ratios
to the last action counts twice what both know. There are two chains where turns and acts are not the same. The
narrowest level of all is what the procedure's rules say is due.
"""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cuecard.belief.types import Distribution
from cuecard.predictors.counts import Counts

TURNS = ("sop", "last", "last2", "last3")
ACTS = ("act", "act2", "act3")
SIDE_OF = "last"

STRENGTH = 5.0
"""Turns that the wider context counts for. Flat between 3 and 10 on human calls (decision 0101)."""
PRIOR_SHARE = 0.5
"""The drawn graph's part, beside the procedure's counts, in what the last action's counts lean on (decision 0101)."""
DUE_STRENGTH = 10.0
"""Turns that rules and habits together count for, against what followed when the same step was due (decision 0107)."""
CALLER_SHARE = 0.5
"""Weight of what callers of this kind do, beside the chains' and the state's opinions at 1."""
BEFORE_SHARE = 2.0
"""Weight of what people do who come from the same other procedure (decision 0109)."""


class Drawn(NamedTuple):
    """What the drawn graph says about one offset, and how much it is believed there."""

    p: Distribution
    share: float = PRIOR_SHARE
    """Of the graph in what the last action's counts lean on."""
    trust: float = 0.0
    """Of a graph that knows the desk, beside counts that do not."""
    due_strength: float = DUE_STRENGTH


NOT_DRAWN = Drawn({})


def chain(levels: Sequence[Counts], prior: Distribution, strength: float = STRENGTH) -> Distribution:
    """The narrowest level's distribution, wide to narrow; `prior` is what the widest leans on (may be empty)."""
    p = prior
    for counts in levels:
        p = _posterior(counts, p, strength)
    return p


def shrink(
    rows: Mapping[str, Counts],
    drawn: Drawn = NOT_DRAWN,
    strength: float = STRENGTH,
    rng: random.Random | None = None,
) -> Distribution:
    """One distribution from the counts of all levels (by level name). Empty when neither counts nor graph say anything.

    The graph knows the last action and the procedure's counts do not, so it is blended in again above them. With `rng`
    the narrowest level that was ever seen is drawn from its posterior instead of being its mean (Thompson sampling).
    """
    due = rows.get("due", {})
    habits = _habits(rows, drawn, strength, None if due else rng)
    p = habits
    if drawn.trust > 0.0 and drawn.p:
        # Habits earn their share: a step seen once or twice must not turn rules round that know what is missing.
        n = sum(rows.get(SIDE_OF, {}).values())
        share = (1.0 - drawn.trust) * n / (n + strength)
        p = blend([(1.0 - share, drawn.p), (share, habits)])
    if not due:
        return p
    return _posterior(due, p, drawn.due_strength) if rng is None else _draw(due, p, drawn.due_strength, rng)


def blend(parts: Sequence[tuple[float, Distribution]]) -> Distribution:
    """A weighted mean of distributions; empty parts give their weight to the others."""
    total = sum(weight for weight, part in parts if part)
    out: Distribution = {}
    for weight, part in parts:
        for label, p in part.items():
            out[label] = out.get(label, 0.0) + p * weight / total
    return out


def normalised(weights: Mapping[str, float]) -> Distribution:
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()} if total > 0 else {}


class _Chain(NamedTuple):
    p: Distribution
    anchor: Distribution
    """As far as the last action or act."""
    narrowest: tuple[Counts, Distribution]
    """The narrowest level that was ever seen, and what it leans on."""


def _habits(rows: Mapping[str, Counts], drawn: Drawn, strength: float, rng: random.Random | None) -> Distribution:
    """What usually follows, by all that counts can tell without the desk."""
    told: dict[str, Distribution] = {}
    turns = _narrowed(rows, TURNS, drawn, strength, told)
    by_act = _by_act(rows)
    acts = _narrowed(rows, by_act, drawn, strength, told) if by_act != TURNS else turns
    opinions = [(1.0, turns.p if rng is None else _draw(*turns.narrowest, strength, rng))]
    if acts is not turns:
        opinions.append((1.0, acts.p))
    if before := rows.get("before"):
        opinions.append((BEFORE_SHARE, _posterior(before, acts.anchor, strength)))
    if state := rows.get("state"):
        opinions.append((1.0, _posterior(state, turns.anchor, strength)))
    if cohort := rows.get("cohort"):
        kind = _posterior(cohort, turns.anchor, strength)
        opinions.append((CALLER_SHARE, _posterior(rows.get("mood", {}), kind, strength)))
    return blend(opinions) if len(opinions) > 1 else opinions[0][1]


def _by_act(rows: Mapping[str, Counts]) -> tuple[str, ...]:
    """The chain's levels by single acts: the turns' own as far as they are the same, then what differs."""
    found: list[str] = []
    for turn, act in zip(TURNS[1:], ACTS, strict=True):
        if act in rows:
            found.append(act)
        elif not found or found[-1] in TURNS:
            found.append(turn)
    return (TURNS[0], *found)


def _narrowed(
    rows: Mapping[str, Counts], names: Sequence[str], drawn: Drawn, strength: float, told: dict[str, Distribution]
) -> _Chain:
    """Down the levels of `names`. `told` keeps what each said, for two chains that begin alike."""
    p = anchor = drawn.p
    narrowest: tuple[Counts, Distribution] = ({}, p)
    for place, name in enumerate(names):
        if name in told:
            p = told[name]
        else:
            counts = rows.get(name)
            if place == 1 and name in rows and drawn.p:
                p = blend([(drawn.share, drawn.p), (1.0 - drawn.share, p)])
            if counts:
                narrowest = (counts, p)
                p = _posterior(counts, p, strength)
            told[name] = p
        if place == 1:
            anchor = p
    return _Chain(p, anchor, narrowest)


def _posterior(counts: Counts, wider: Distribution, strength: float) -> Distribution:
    n = sum(counts.values())
    if not wider:
        return {label: count / n for label, count in counts.items()} if n > 0 else {}
    scale = 1.0 / (n + strength)
    keep = strength * scale
    p = {label: keep * q for label, q in wider.items()}
    for label, count in counts.items():
        p[label] = p.get(label, 0.0) + count * scale
    return p


def _draw(counts: Counts, wider: Distribution, strength: float, rng: random.Random) -> Distribution:
    """One sample of the Dirichlet posterior: independent gammas, normalised."""
    mean = _posterior(counts, wider, strength)
    n = sum(counts.values()) + strength
    return normalised({label: rng.gammavariate(max(p * n, 1e-6), 1.0) for label, p in mean.items()}) or mean
