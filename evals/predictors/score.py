"""Scores a predictor over recorded calls: what it put first, and whether its sentences find the right documents."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

import corpus
from cuecard.predictors.types import Forecast, Predictor
from evals.predictors.record import Call

SENTENCES = 5
"""Predicted sentences that may each send out one query: a small, fixed budget, the same for every predictor."""
BOOTSTRAP = 1000


@dataclass(slots=True)
class Tally:
    """Hits by call, so that intervals resample calls and not turns."""

    hits: dict[str, list[list[float]]] = field(default_factory=dict)
    tokens: int = 0
    ms: list[float] = field(default_factory=list)

    def add(self, name: str, call: int, hit: bool) -> None:
        rows = self.hits.setdefault(name, [])
        while len(rows) <= call:
            rows.append([])
        rows[call].append(float(hit))

    def to_json(self) -> dict[str, object]:
        out: dict[str, object] = {}
        for name, rows in self.hits.items():
            flat = [hit for row in rows for hit in row]
            out[name] = round(100.0 * float(np.mean(flat)), 1) if flat else None
            out[f"{name}_ci95"] = interval(rows)
            out[f"{name}_n"] = len(flat)
        n = max(len(self.ms), 1)
        return out | {"tokens": round(self.tokens / n, 1), "ms": round(float(np.median(self.ms or [0.0])), 3)}


def together(tallies: Sequence[Tally]) -> Tally:
    """Several scorings of the same calls as one: each call holds the hits of all of them."""
    out = Tally(tokens=sum(tally.tokens for tally in tallies), ms=[ms for tally in tallies for ms in tally.ms])
    for tally in tallies:
        for name, rows in tally.hits.items():
            for call, hits in enumerate(rows):
                for hit in hits:
                    out.add(name, call, bool(hit))
    return out


def interval(rows: Sequence[Sequence[float]]) -> list[float]:
    """A 95 % interval of the mean in per cent, by resampling whole calls."""
    sums = np.array([sum(row) for row in rows if row])
    sizes = np.array([len(row) for row in rows if row])
    if len(sums) == 0:
        return []
    draws = np.random.default_rng(0).integers(0, len(sums), (BOOTSTRAP, len(sums)))
    means = sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    return [round(100.0 * float(q), 1) for q in np.percentile(means, [2.5, 97.5])]


class Gap(NamedTuple):
    """How far one predictor is ahead of another on the same calls, in points."""

    points: float
    ci95: list[float]


def gap(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> Gap:
    """Mean of `ours` minus mean of `theirs`, with an interval over resampled calls: both saw the same turns."""
    pairs = [[a - b for a, b in zip(mine, other, strict=True)] for mine, other in zip(ours, theirs, strict=True)]
    flat = [one for row in pairs for one in row]
    return Gap(round(100.0 * float(np.mean(flat)), 1) if flat else 0.0, interval(pairs))


Documents = Callable[[str], frozenset[str]]
"""A sentence to the ids of the documents it finds (top 3)."""


def documents_of(index: corpus.Index) -> Documents:
    """Remembers what a sentence found: predictors say the same things often."""
    known: dict[str, frozenset[str]] = {}

    def find(text: str) -> frozenset[str]:
        if text not in known:
            known[text] = frozenset(hit.doc_id for hit in index.search_now(text, None, 3))
        return known[text]

    return find


async def score(
    predictor: Predictor,
    calls: Sequence[Call],
    corpora: Mapping[str, Documents],
    asks: Callable[[str], bool],
) -> Tally:
    """Turn level, before the caller speaks. Query hits count turns in which the caller then asked something."""
    tally = Tally()
    for number, call in enumerate(calls):
        for n_turns, view in sorted(call.views.items()):
            began = time.perf_counter()
            forecast = await predictor.predict(view, 3)
            tally.ms.append(1000.0 * (time.perf_counter() - began))
            tally.tokens += forecast.tokens
            _actions(tally, number, call, n_turns, forecast)
            _queries(tally, number, call, n_turns, forecast, corpora, asks)
    return tally


def _actions(tally: Tally, number: int, call: Call, n_turns: int, forecast: Forecast) -> None:
    for offset in (1, 2, 3):
        gold = call.ahead(n_turns, offset)
        if gold is None:
            continue
        ranked = _ranked(forecast.actions, offset)
        tally.add(f"action_top1_+{offset}", number, gold.action in ranked[:1])
        tally.add(f"action_top3_+{offset}", number, gold.action in ranked[:3])
        if gold.source:
            sources = [name for name in _ranked(forecast.sources, offset) if name]
            tally.add(f"source_hit1_+{offset}", number, gold.source in sources[:1])
            tally.add(f"source_hit3_+{offset}", number, gold.source in sources[:3])


def _ranked(distributions: Sequence[Mapping[str, float]], offset: int) -> list[str]:
    at = distributions[offset - 1] if offset <= len(distributions) else {}
    return sorted(at, key=lambda name: -at[name])


def _queries(
    tally: Tally,
    number: int,
    call: Call,
    n_turns: int,
    forecast: Forecast,
    corpora: Mapping[str, Documents],
    asks: Callable[[str], bool],
) -> None:
    gold = call.ahead(n_turns, 1)
    if gold is None or not asks(gold.state):
        return
    said = sorted((one for one in forecast.utterances if one.offset == 1), key=lambda one: -one.p)[:SENTENCES]
    for name, find in corpora.items():
        live = find(gold.utterance)
        tally.add(f"query_{name}", number, any(find(one.text) & live for one in said))
