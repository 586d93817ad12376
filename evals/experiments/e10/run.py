"""E10: approved replies written before the caller spoke, said word for word when the check says that they fit."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from cuecard.models.embeddings import Matrix
from cuecard.predictors.counts import HORIZON
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.garbage import SENTENCES
from cuecard.prefetch.instructions import fits, instruction
from cuecard.prefetch.slots import slots
from cuecard.prefetch.types import Item
from evals.experiments.shared.compared import share
from evals.experiments.shared.recorded import Call, call_of, fitted, history, prior_of, units
from evals.experiments.shared.scores import shown
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Plot, Row, Section, Series, Unit
from sops.loader import load_procedure

ACTIONS, SENTENCES_EACH = 3, 3
"""Replies are prepared for so many forecast actions, each for so many sentences that callers said before them."""
VARIANTS = ("checked", "no_check", "garbage")


@lru_cache(maxsize=4)
def _said_before(sop: str) -> dict[str, list[str]]:
    """What callers of earlier calls said, by the action that answered them, commonest first."""
    counts: dict[str, Counter[str]] = {}
    for call in history(sop):
        for view in call.views:
            if view.utterance:
                counts.setdefault(view.action, Counter())[view.utterance] += 1
    return {action: [text for text, _ in said.most_common()] for action, said in counts.items()}


@lru_cache(maxsize=4)
def _fixed_replies(sop: str) -> dict[str, str]:
    """The approved reply that needs nothing filled in, of each action that has one and cannot be undone by a need."""
    found = {}
    for name, action in load_procedure(sop).actions.items():
        plain = [text for text in action.replies if not slots(text)]
        if plain and not action.needs:
            found[name] = plain[0]
    return found


class _Embedded:
    """Sentences of earlier calls with their vectors, embedded once a procedure."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, tuple[list[str], Matrix]]] = {}

    def of(self, sop: str, tools: Tools) -> dict[str, tuple[list[str], Matrix]]:
        if sop not in self._known:
            self._known[sop] = {
                action: (texts, tools.embedder.embed(texts)) for action, texts in _said_before(sop).items()
            }
        return self._known[sop]


_EMBEDDED = _Embedded()


async def play(unit: Unit, tools: Tools) -> list[Row]:
    call = call_of(unit)
    predictor = EmpiricalPredictor(fitted(history(call.sop)), prior_of)
    vectors = tools.embedder.embed([view.utterance or "." for view in call.views])
    rows: list[Row] = [
        {"variant": v, "sop": call.sop, "seed": call.seed, "turns": 0, "said": 0, "wrong": 0} for v in VARIANTS
    ]
    for index in range(1, len(call.views)):
        forecast = await predictor.predict(call.view(index - 1), HORIZON)
        likely = (
            sorted(forecast.actions[0], key=lambda name: -forecast.actions[0][name])[:ACTIONS]
            if forecast.actions
            else []
        )
        for row in rows:
            item = _chosen(row["variant"], call, index, likely, vectors[index], tools)
            row["turns"] += 1
            if item is not None:
                row["said"] += 1
                row["wrong"] += int(item.text != call.views[index].reply)
    return rows


def _chosen(variant: str, call: Call, index: int, likely: Sequence[str], vector: Any, tools: Tools) -> Item | None:
    """The prepared reply that would be said, if any."""
    taken, words = call.views[index].action, call.views[index].utterance
    prepared = _prepared(variant, call, likely, vector, tools)
    if variant == "no_check":
        # The likeliest action's reply goes out before anybody looked at the words.
        return prepared[0] if prepared else None
    for item in prepared:
        if fits(item, action=taken, words=words, vector=vector, ready=frozenset(), now_s=0.0).ok:
            return item
    return None


def _prepared(variant: str, call: Call, likely: Sequence[str], vector: Any, tools: Tools) -> list[Item]:
    replies = _fixed_replies(call.sop)
    known = _EMBEDDED.of(call.sop, tools)
    items = []
    for action in likely:
        if action not in replies:
            continue
        if variant == "garbage":
            said, vectors = list(SENTENCES), tools.embedder.embed(list(SENTENCES))
        else:
            said, vectors = known.get(action, ([], tools.embedder.embed([])))
        for n in range(min(SENTENCES_EACH, len(said))):
            items.append(
                instruction(
                    action=action,
                    utterance=said[n],
                    vector=vectors[n],
                    reply=replies[action],
                    p=1.0,
                    now_s=0.0,
                    ttl_s=60.0,
                )
            )
    return items


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


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        variant: {
            "verbatim": share(_sum(rows, variant, "said"), _sum(rows, variant, "turns"))._asdict(),
            "wrong_of_verbatim": share(_sum(rows, variant, "wrong"), _sum(rows, variant, "said"))._asdict(),
        }
        for variant in VARIANTS
    } | {"time_to_first_word": "not run: no model"}


def sections(rows: Sequence[Row]) -> list[Section]:
    table = [
        [variant, shown(share(_sum(rows, variant, "said"), _sum(rows, variant, "turns"))),
         shown(share(_sum(rows, variant, "wrong"), _sum(rows, variant, "said"))),
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
        f"Replies are prepared for the {ACTIONS} likeliest actions, each with {SENTENCES_EACH} sentences callers said "
        "before it in earlier calls. Only approved replies with nothing to fill in take part, because recorded calls "
        "do not hold callers' data. Wrong: the agent said something else in that turn. Without a chat model the "
        "agent's own reply is ready at once, so the time to the first word is not shortened: not run, no model."
    )
    columns = ("variant", "said word for word", "wrong, of those", "said", "turns")
    return [Section("Replies", text, columns, table, plot)]


EXPERIMENT = Experiment("E10", units, play, measures, figures, sections, parallel=False)
