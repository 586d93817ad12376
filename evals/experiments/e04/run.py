"""E4: ways to choose from pools that real calls filled: does the choice hold the document, and how fast is it?"""

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cuecard.ledger import percentile
from cuecard.pool import (
    ConfidenceGate,
    Cosine,
    CosineThenLlm,
    Glance,
    KeyLookup,
    LlmRerank,
    Pick,
    Pool,
    Selection,
    context_query,
)
from cuecard.pool.modes import PREFILTER
from evals.experiments.answers import Answers
from evals.experiments.e04.rerank import ModelRerank, overlap
from evals.experiments.shared.compared import QUICK, mean, ratio, share
from evals.experiments.shared.pools import Snapshot, snapshots
from evals.experiments.shared.scores import shown
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Options, Plot, Row, Section, Series, Unit

DEFAULT = "cosine_dedup"
NEEDS_MODEL = ("llm_rerank_all", "prefilter_8_llm")
FULL = 40


def units(options: Options) -> list[Unit]:
    return [
        {"key": f"{sop}/{seed:07d}", "sop": sop, "seed": seed}
        for seed in options.calls(FULL, QUICK)
        for sop in options.procedures
    ]


class _AtRandom:
    """Three items of the pool, whatever was said."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    async def select(self, pool: Pool, glance: Glance) -> list[Pick]:
        items = self._rng.sample(pool.items, min(glance.k, len(pool)))
        return [Pick(item, 0.0, 0.0) for item in items]


async def play(unit: Unit, tools: Tools) -> list[Row]:
    engine = await tools.engine()
    modes: dict[str, Selection] = {
        DEFAULT: CosineThenLlm(),
        "plain_cosine": Cosine(),
        "key_lookup": KeyLookup(),
        "confidence_gate": ConfidenceGate(),
        "garbage": _AtRandom(random.Random(unit["seed"])),
    }
    spoken = [one for one in await snapshots(engine, unit["sop"], unit["seed"]) if one.words]
    rows = [await _row(one, modes, tools, unit) for one in spoken]
    if tools.answers is not None:
        for row, one in zip(rows, spoken, strict=True):
            # A model takes seconds a turn, so it is asked only where there is something to find.
            if row["asks"] and row["gold_in_pool"]:
                row["model"] = await _by_model(one, tools.answers)
    return rows


async def _by_model(one: Snapshot, answers: Answers) -> dict[str, dict[str, Any]]:
    """What a chat model picks of the whole pool, and of the nearest eight; and what cosine picks of the same."""
    glance = Glance(one.words, context_query(one.vector, one.previous_vector), one.now_s)
    ours = await CosineThenLlm().select(one.pool, glance)
    found = {}
    for mode, most in zip(NEEDS_MODEL, (None, PREFILTER), strict=True):
        rerank = ModelRerank(answers)
        picks = await LlmRerank(rerank, most).select(one.pool, glance)
        found[mode] = {
            "held": int(any(pick.item.id in one.gold_items for pick in picks)),
            "cosine_held": int(any(pick.item.id in one.gold_items for pick in ours)),
            "same_first": int(bool(ours and picks and ours[0].item.id == picks[0].item.id)),
            "overlap": overlap(ours, picks),
            "ms": rerank.last.took_ms,
            "tokens": rerank.last.tokens,
            "error": rerank.last.error,
        }
    return found


async def _row(one: Snapshot, modes: dict[str, Selection], tools: Tools, unit: Unit) -> Row:
    began_s, began_cpu_s = time.perf_counter(), time.thread_time()
    vector = tools.embedder.embed([one.words])[0]
    embed_ms = 1000.0 * (time.perf_counter() - began_s)
    embed_cpu_ms = 1000.0 * (time.thread_time() - began_cpu_s)
    glance = Glance(one.words, context_query(vector, one.previous_vector), one.now_s, wants=one.wants)
    gold = one.gold_items
    found = {}
    for name, mode in modes.items():
        # Plain means the words alone.
        own = replace(glance, query=vector) if name == "plain_cosine" else glance
        began_s, began_cpu_s = time.perf_counter(), time.thread_time()
        picks = await mode.select(one.pool, own)
        took_ms = 1000.0 * (time.perf_counter() - began_s) + embed_ms
        cpu_ms = 1000.0 * (time.thread_time() - began_cpu_s) + embed_cpu_ms
        held = int(any(pick.item.id in gold for pick in picks))
        found[name] = [held, len(picks), round(took_ms, 3), round(cpu_ms, 3)]
    found["oracle"] = [int(bool(gold)), len(gold), 0.0, 0.0]
    best = [round(pick.cosine, 3) for pick in one.pool.nearest(glance.query, 3, one.now_s)]
    return {
        "sop": unit["sop"],
        "seed": unit["seed"],
        "turn": one.turn,
        "asks": bool(one.gold),
        "gold_in_pool": bool(gold),
        "items": len(one.pool),
        "modes": found,
        "best": best,
        "used_document": one.used_document,
    }


def _hits(rows: Sequence[Row], mode: str) -> list[tuple[float, float]]:
    """(gold in picks, gold in pool), a call each."""
    calls: dict[str, list[Row]] = {}
    for row in rows:
        if row["asks"]:
            calls.setdefault(row["unit"], []).append(row)
    return [
        (float(sum(row["modes"][mode][0] for row in own)), float(sum(row["gold_in_pool"] for row in own)))
        for own in calls.values()
    ]


def _modes(rows: Sequence[Row]) -> list[str]:
    return list(rows[0]["modes"]) if rows else []


def _one(rows: Sequence[Row], mode: str) -> dict[str, Any]:
    asking = [row for row in rows if row["asks"]]
    others = [row for row in rows if not row["asks"]]
    ms = [row["modes"][mode][2] for row in rows]
    return {
        "gold_in_picks": share(sum(row["modes"][mode][0] for row in asking), len(asking))._asdict(),
        "gold_in_pool": share(sum(row["gold_in_pool"] for row in asking), len(asking))._asdict(),
        "picks_of_pool": _of_pool(rows, mode)._asdict(),
        "adoption_rate": share(sum(row["modes"][mode][1] > 0 for row in rows), len(rows))._asdict(),
        "wrong_context": _wrong(others, mode)._asdict(),
        "given_though_none_needed": share(sum(row["modes"][mode][1] > 0 for row in others), len(others))._asdict(),
        "select_embed_ms_p50": round(percentile(ms, 50), 2),
        "select_embed_ms_p95": round(percentile(ms, 95), 2),
        "select_embed_cpu_ms_p95": _cpu_p95(rows, mode),
        "n": len(asking),
    }


def _cpu_p95(rows: Sequence[Row], mode: str) -> float | None:
    """Processor time of our thread alone, which other programs on the machine do not lengthen; None in old rows."""
    known = [row["modes"][mode][3] for row in rows if len(row["modes"][mode]) > 3]
    return round(percentile(known, 95), 2) if known else None


def _wrong(others: Sequence[Row], mode: str) -> Measure:
    """A turn in which nothing was asked was given items and spoke from a document."""
    return share(sum(row["modes"][mode][1] > 0 and row["used_document"] for row in others), len(others))


def _of_pool(rows: Sequence[Row], mode: str) -> Measure:
    n = sum(row["asks"] and row["gold_in_pool"] for row in rows)
    return ratio(_hits(rows, mode))._replace(n=n)


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    if not rows:
        return {}
    ms = sorted(row["modes"][DEFAULT][2] for row in rows)
    p95 = round(percentile(ms, 95), 2)
    spread = [percentile(random.Random(n).choices(ms, k=len(ms)), 95) for n in range(500)]
    asks = sum(row["asks"] for row in rows)
    return {
        "picks_of_pool": _of_pool(rows, DEFAULT)._replace(n=asks),
        "select_embed_p95_ms": Measure(
            p95, round(percentile(spread, 2.5), 2), round(percentile(spread, 97.5), 2), len(rows)
        ),
    }


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    out: dict[str, Any] = {mode: _one(rows, mode) for mode in _modes(rows)}
    asked = _asked(rows)
    if not asked:
        return out | dict.fromkeys(NEEDS_MODEL, "not run: no model")
    return out | {"by_model": {mode: _with_model(asked, mode) for mode in NEEDS_MODEL}}


def _asked(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [row["model"] for row in rows if "model" in row]


def _with_model(asked: Sequence[dict[str, Any]], mode: str) -> dict[str, Any]:
    own = [one[mode] for one in asked]
    overlaps = [one["overlap"] for one in own if one["overlap"] is not None]
    ms = [one["ms"] for one in own]
    return {
        "picks_of_pool": share(sum(one["held"] for one in own), len(own))._asdict(),
        "cosine_picks_of_pool": share(sum(one["cosine_held"] for one in own), len(own))._asdict(),
        "same_first": share(sum(one["same_first"] for one in own), len(own))._asdict(),
        "overlap_with_cosine": mean(overlaps)._asdict(),
        "ms_p50": round(percentile(ms, 50), 1),
        "ms_p95": round(percentile(ms, 95), 1),
        "tokens_per_turn": round(sum(one["tokens"] for one in own) / len(own), 1),
        "n": len(own),
    }


def sections(rows: Sequence[Row]) -> list[Section]:
    found = figures(rows)
    table: list[list[object]] = []
    for mode, one in found.items():
        if mode == "by_model":
            continue
        if isinstance(one, str):
            table.append([mode, one, *["-"] * 8])
            continue
        parts = [shown(Measure(**one[key])) for key in
                 ("gold_in_picks", "gold_in_pool", "picks_of_pool", "adoption_rate", "wrong_context")]  # fmt: skip
        table.append([mode, *parts, one["select_embed_ms_p50"], one["select_embed_ms_p95"],
                      one["select_embed_cpu_ms_p95"], one["n"]])  # fmt: skip
    modes = _modes(rows)
    plot = Plot(
        "The document that answers is among the picks (simulated, 95 % intervals)", "mode", "share of questions", modes,
        [Series("gold in picks", *_columns([found[mode]["gold_in_picks"] for mode in modes]))],
    )  # fmt: skip
    return [
        Section(
            "Modes",
            "Over turns in which the caller asked a question whose answering documents are known. A document can only "
            "be picked when it was in the pool: the second figure bounds the first. Wrong context: nothing was asked, "
            "items were shown, and the turn spoke from a document. Milliseconds are wall time on this machine.",
            ("mode", "gold in picks", "gold in pool", "picks of pool", "shows anything", "wrong context", "ms p50",
             "ms p95", "cpu ms p95", "questions"),
            table,
            plot,
        ),
        *_model_sections(rows),
        _distributions(rows),
    ]  # fmt: skip


def _model_sections(rows: Sequence[Row]) -> list[Section]:
    if not (asked := _asked(rows)):
        return []
    table: list[list[object]] = []
    for mode in NEEDS_MODEL:
        one = _with_model(asked, mode)
        parts = [shown(Measure(**one[key])) for key in
                 ("picks_of_pool", "cosine_picks_of_pool", "same_first", "overlap_with_cosine")]  # fmt: skip
        table.append([mode, *parts, one["ms_p50"], one["ms_p95"], one["tokens_per_turn"], one["n"]])
    text = (
        "Asked only where the document lay in the pool. Overlap: the share of the model's three picks that cosine made "
        "too. Latency is the model's alone, on this machine."
    )
    columns = ("mode", "picks of pool", "cosine on the same", "same first", "overlap", "ms p50", "ms p95",
               "tokens a turn", "turns")  # fmt: skip
    return [Section("A model as reranker", text, columns, table)]


def _columns(found: Sequence[dict[str, Any]]) -> tuple[list[float], list[float], list[float]]:
    return [one["value"] or 0.0 for one in found], [one["low"] for one in found], [one["high"] for one in found]


def _distributions(rows: Sequence[Row]) -> Section:
    """Top cosines and the gap between the first two, where something was asked and where nothing was."""
    table = []
    for name, asks in (("question", True), ("no question", False)):
        best = [row["best"] for row in rows if row["asks"] == asks and row["best"]]
        first = [one[0] for one in best]
        gaps = [round(one[0] - one[1], 3) for one in best if len(one) > 1]
        cells = [percentile(values, q) for values in (first, gaps) for q in (5, 50, 95)]
        table.append([name, *cells, len(best)])
    return Section(
        "Cosines",
        "The floor of a gate would have to lie between the two lines.",
        ("turn", "best p5", "p50", "p95", "gap p5", "p50", "p95", "turns"),
        table,
    )


EXPERIMENT = Experiment("E4", units, play, measures, figures, sections)
