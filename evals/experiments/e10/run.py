"""E10: approved replies written before the caller spoke, said word for word when the check says that they fit."""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from cuecard.ledger import percentile
from cuecard.models.chat import Message
from cuecard.predictors.counts import HORIZON, MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.prefetch.instructions import fits
from cuecard.prefetch.types import Item
from cuecard.turn.ask import quoted
from evals.experiments.e10.prepare import ACTIONS, SENTENCES_EACH, Imagination, prepared, said_by
from evals.experiments.shared.compared import share
from evals.experiments.shared.recorded import Call, call_of, fitted, history, prior_of, units
from evals.experiments.shared.scores import shown
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Plot, Row, Section, Series, Unit
from prompts import load_prompt
from sops.loader import load_procedure

VARIANTS = ("checked", "no_state_check", "no_check", "garbage")
ASKED_OF_MODEL = 2
"""Turns of a call in which a chat model is asked for the reply that might have been ready."""

_IMAGINATION = Imagination()


@lru_cache(maxsize=4)
def _counts(sop: str) -> MemoryCounts:
    return fitted(history(sop))


async def play(unit: Unit, tools: Tools) -> list[Row]:
    call = call_of(unit)
    predictor = EmpiricalPredictor(_counts(call.sop), prior_of)
    rows: list[Row] = [
        {"variant": v, "sop": call.sop, "seed": call.seed, "turns": 0, "could": 0, "said": 0, "wrong": 0, "ms": []}
        for v in VARIANTS
    ]
    ready: list[int] = []
    for index in range(1, len(call.views)):
        forecast = await predictor.predict(call.view(index - 1), HORIZON)
        p = forecast.actions[0] if forecast.actions else {}
        likely = sorted(p, key=lambda name: (-p[name], name))[:ACTIONS]
        known = [_IMAGINATION.before(call.sop, action, tools.embedder) for action in likely]
        nonsense = [_IMAGINATION.nonsense(tools.embedder)] * len(likely)
        for row in rows:
            items = prepared(call, index, likely, nonsense if row["variant"] == "garbage" else known)
            item, took_ms = _chosen(row["variant"], call, index, items, tools)
            row["turns"] += 1
            row["could"] += any(said_by(one.text, call.views[index].reply) for one in items)
            row["ms"].append(took_ms)
            if item is not None:
                row["said"] += 1
                row["wrong"] += int(not said_by(item.text, call.views[index].reply))
                if row["variant"] == "checked":
                    ready.append(index)
    return rows + await _asked_of_model(call, ready, tools)


def _chosen(variant: str, call: Call, index: int, items: Sequence[Item], tools: Tools) -> tuple[Item | None, float]:
    """The prepared reply that would be said, if any, and how long it took to embed the words and know."""
    view = call.views[index]
    if variant == "no_check":
        # The likeliest action's reply goes out before anybody looked at the words.
        return (items[0] if items else None), 0.0
    began_s = time.perf_counter()
    vector = tools.embedder.embed([view.utterance or "."])[0]
    state = view.state if variant == "checked" else ""
    fitting = (
        item
        for item in items
        if fits(
            item, action=view.action, words=view.utterance, vector=vector, ready=frozenset(), now_s=0.0, state=state
        ).ok
    )
    return next(fitting, None), round(1000.0 * (time.perf_counter() - began_s), 2)


async def _asked_of_model(call: Call, ready: Sequence[int], tools: Tools) -> list[Row]:
    """How long a chat model takes to its first word in turns that were answered word for word, or else in others."""
    if tools.answers is None:
        return []
    rows = []
    others = [index for index in range(1, len(call.views)) if index not in ready]
    for index in [*ready, *others][:ASKED_OF_MODEL]:
        answer = await tools.answers.to(_messages(call, index))
        rows.append(
            {"variant": "model", "sop": call.sop, "seed": call.seed, "turn": index, "was_ready": index in ready,
             "first_ms": answer.first_ms, "took_ms": answer.took_ms, "tokens": answer.tokens, "error": answer.error}
        )  # fmt: skip
    return rows


def _messages(call: Call, index: int) -> list[Message]:
    """The product's prompt for this turn, as far as a recorded call knows it: names of facts, and no items."""
    procedure, view = load_procedure(call.sop), call.views[index]
    actions = "\n".join(f"- {name}: {action.description}" for name, action in procedure.actions.items())
    system = load_prompt("agent").render(title=procedure.title, description=procedure.description, actions=actions)
    messages: list[Message] = [("system", system)]
    for before in call.views[:index]:
        messages += [("user", f"The caller said: {quoted(before.utterance)}")] if before.utterance else []
        messages += [("assistant", f"STEP: {before.action}\n{before.reply}")]
    turn = load_prompt("turn").render(
        facts=quoted(call.turns[index - 1]["facts"]),
        context="No notes are laid out for this turn.",
        allowed=view.action,
        suggestion=view.action,
        utterance=quoted(view.utterance),
    )
    return [*messages, ("user", turn)]


def _sum(rows: Sequence[Row], variant: str, what: str) -> int:
    return sum(row[what] for row in rows if row["variant"] == variant)


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    if not rows:
        return {}
    said, turns = _sum(rows, "checked", "said"), _sum(rows, "checked", "turns")
    return {
        "wrong_of_verbatim": share(_sum(rows, "checked", "wrong"), said)._replace(n=turns),
        "verbatim": share(said, turns),
    }


def _first_word(rows: Sequence[Row]) -> dict[str, Any] | str:
    """Milliseconds to the first word: of a reply that lay ready, and of a chat model."""
    asked = [row["first_ms"] for row in rows if row["variant"] == "model" and not row["error"]]
    if not asked:
        return "not run: no model"
    ready = [ms for row in rows if row["variant"] == "checked" for ms in row["ms"]]
    return {
        "ready_ms_p50": round(percentile(ready, 50), 1),
        "ready_ms_p95": round(percentile(ready, 95), 1),
        "model_ms_p50": round(percentile(asked, 50), 1),
        "model_ms_p95": round(percentile(asked, 95), 1),
        "n_ready": len(ready),
        "n_model": len(asked),
    }


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        variant: {
            "verbatim": share(_sum(rows, variant, "said"), _sum(rows, variant, "turns"))._asdict(),
            "wrong_of_verbatim": share(_sum(rows, variant, "wrong"), _sum(rows, variant, "said"))._asdict(),
            "right_one_lay_ready": share(_sum(rows, variant, "could"), _sum(rows, variant, "turns"))._asdict(),
        }
        for variant in VARIANTS
    } | {"time_to_first_word": _first_word(rows)}


def sections(rows: Sequence[Row]) -> list[Section]:
    table = [
        [variant, shown(share(_sum(rows, variant, "said"), _sum(rows, variant, "turns"))),
         shown(share(_sum(rows, variant, "wrong"), _sum(rows, variant, "said"))),
         shown(share(_sum(rows, variant, "could"), _sum(rows, variant, "turns"))),
         _sum(rows, variant, "said"), _sum(rows, variant, "turns")]
        for variant in VARIANTS
    ]  # fmt: skip
    shares = [share(_sum(rows, variant, "said"), _sum(rows, variant, "turns")) for variant in VARIANTS]
    plot = Plot(
        "Turns answered word for word by a reply written beforehand (simulated, 95 % intervals)",
        "variant", "share of turns", list(VARIANTS),
        [Series("verbatim", [m.value or 0.0 for m in shares], [m.low for m in shares], [m.high for m in shares])],
    )  # fmt: skip
    text = (
        f"Replies are prepared for the {ACTIONS} likeliest actions, each for the {SENTENCES_EACH} sentences that "
        "callers of earlier calls said most often before it. A reply with slots takes part when all its facts and "
        "records were there a turn earlier. Wrong: the agent's reply was another one. The third figure is the share of "
        "turns for which the right reply lay among the prepared ones."
    )
    columns = ("variant", "said word for word", "wrong, of those", "right one lay ready", "said", "turns")
    return [Section("Replies", text, columns, table, plot), _waiting(rows)]


def _waiting(rows: Sequence[Row]) -> Section:
    found = _first_word(rows)
    if isinstance(found, str):
        text = (
            "Without a chat model the agent's own reply is ready at once, so nothing is shortened: not run, no model."
        )
        return Section("Time to the first word", text)
    return Section(
        "Time to the first word",
        "Of a reply that lay ready: embedding the words and the check. Of the chat model: until the first word after "
        "the line that names its step, on this machine.",
        ("reply", "ms p50", "ms p95", "n"),
        [[who, found[f"{who}_ms_p50"], found[f"{who}_ms_p95"], found[f"n_{who}"]] for who in ("ready", "model")],
    )


EXPERIMENT = Experiment("E10", units, play, measures, figures, sections, parallel=False)
