"""Thin contexts lean on wider ones, down to the drawn graph: the maths of the empirical predictor, free of any store.

Each level of a chain is a Dirichlet posterior whose prior mean is the level before it:
p(level) = (counts + strength x p(wider)) / (n + strength). Levels that look at something else than the chain's actions
(state, cohort, mood) come in as ratios to the level they widen, as in a naive Bayes conditional on the last action.
"""

import random
from collections.abc import Mapping, Sequence

from cuecard.belief.types import Distribution
from cuecard.predictors.counts import Counts

CHAIN = ("sop", "last", "last2", "last3")
SIDES = ("state", "cohort", "mood")
SIDE_OF = "last"

STRENGTH = 5.0
"""Turns that the wider context counts for. Flat between 3 and 10 on human calls (decision 0101)."""
PRIOR_SHARE = 0.5
"""The drawn graph's part, beside the procedure's counts, in what the last action's counts lean on (decision 0101)."""


def chain(levels: Sequence[Counts], prior: Distribution, strength: float = STRENGTH) -> Distribution:
    """The narrowest level's distribution, wide to narrow; `prior` is what the widest leans on (may be empty)."""
    p = prior
    for counts in levels:
        p = _posterior(counts, p, strength)
    return p


def shrink(
    rows: Mapping[str, Counts],
    prior: Distribution,
    strength: float = STRENGTH,
    rng: random.Random | None = None,
    prior_share: float = PRIOR_SHARE,
) -> Distribution:
    """One distribution from the counts of all levels (by level name). Empty when neither counts nor prior say anything.

    The prior knows the last action and the procedure's counts do not, so it is blended in again above them. With `rng`
    the result is drawn from the posterior instead of being its mean (Thompson sampling).
    """
    p = prior
    anchor: Distribution = {}
    narrowest: tuple[Counts, Distribution] = ({}, prior)
    for name in CHAIN:
        counts = rows.get(name)
        if name == SIDE_OF and name in rows and prior:
            p = blend([(prior_share, prior), (1.0 - prior_share, p)])
        if counts:
            narrowest = (counts, p)
            p = _posterior(counts, p, strength)
        if name == SIDE_OF:
            anchor = p
    if rng is not None:
        p = _draw(*narrowest, strength, rng)
    sides = [_posterior(rows[name], anchor, strength) for name in SIDES if rows.get(name)]
    return _tilt(p, anchor, sides) if sides else p


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


def _tilt(p: Distribution, anchor: Distribution, sides: Sequence[Distribution]) -> Distribution:
    tilted = dict(p)
    for side in sides:
        for label in tilted:
            base = anchor.get(label, 0.0)
            if base > 0.0:
                tilted[label] *= side.get(label, 0.0) / base
    return normalised(tilted) or p


def _draw(counts: Counts, wider: Distribution, strength: float, rng: random.Random) -> Distribution:
    """One sample of the Dirichlet posterior: independent gammas, normalised."""
    mean = _posterior(counts, wider, strength)
    n = sum(counts.values()) + strength
    return normalised({label: rng.gammavariate(max(p * n, 1e-6), 1.0) for label, p in mean.items()}) or mean
