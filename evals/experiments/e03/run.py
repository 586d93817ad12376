"""E3: questions predicted before the caller spoke, against the question that came: same key, or a shared document."""

import random
import re
from collections.abc import Sequence
from typing import Any

from cuecard.predictors.counts import HORIZON
from cuecard.predictors.garbage import SENTENCES
from cuecard.predictors.imagined_caller import SampledCaller
from cuecard.predictors.mcts import MCTSPredictor
from evals.experiments.shared.compared import share
from evals.experiments.shared.recorded import Call, call_of, units
from evals.experiments.shared.scores import difference, shown
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Plot, Row, Section, Series, Unit
from sops.loader import load_procedure
from sops.models import Procedure, RagFetch

GUESSES = 5
K = 3
SOURCES = ("bank", "mcts", "llm", "stub", "garbage", "oracle")
_NO_WORD = re.compile(r"[^a-z0-9]+")


def _stub(procedure: Procedure) -> str:
    return f"a question about {procedure.title}"


def corpus_of(procedure: Procedure) -> str:
    return next(dep.fetch.corpus for dep in procedure.dependencies.values() if isinstance(dep.fetch, RagFetch))


async def play(unit: Unit, tools: Tools) -> list[Row]:
    """A row a question of this call."""
    call = call_of(unit)
    asked = [index for index, turn in enumerate(call.turns) if turn["gold"] and index]
    if not asked:
        return []
    procedure = load_procedure(call.sop)
    bank = await tools.bank(call.sop)
    vectors = tools.embedder.embed([view.utterance for view in call.views])
    # The greeting answers nobody, so it has no words to compare.
    views = [
        view._replace(embedding=vector if view.utterance else None)
        for view, vector in zip(call.views, vectors, strict=True)
    ]
    rng = random.Random(call.seed)
    rows = []
    for index in asked:
        seen = call.view(index - 1)
        view = type(seen)(**{**_fields(seen), "turns": tuple(views[:index]), "tenant": "recorded"})
        imagined = await MCTSPredictor(load_procedure, SampledCaller, rng).predict(seen, 1)
        guesses = {
            "bank": [said.text for said in await bank.predict(view, GUESSES, 1)],
            "mcts": [said.text for said in imagined.utterances if said.offset == 1][:GUESSES],
            "stub": [_stub(procedure)],
            "garbage": list(SENTENCES),
            "oracle": [call.turns[index]["words"]],
        }
        if tools.answers is not None:
            made = await tools.answers.forecast(seen, HORIZON)
            guesses["llm"] = [said.text for said in made.utterances][:GUESSES]
        rows.append(_row(call, index, guesses, tools, procedure))
    return rows


def _fields(view: Any) -> dict[str, Any]:
    return {name: getattr(view, name) for name in type(view).__dataclass_fields__}


def _row(call: Call, index: int, guesses: dict[str, list[str]], tools: Tools, procedure: Procedure) -> Row:
    index_of = tools.index(corpus_of(procedure))
    words, gold = call.turns[index]["words"], set(call.turns[index]["gold"])
    live = _documents(index_of, tools, [words])
    found = {}
    for source, texts in guesses.items():
        documents = _documents(index_of, tools, texts)
        found[source] = {
            "same_key": int(any(_key(text) == _key(words) for text in texts)),
            "shared": int(bool(documents & live)),
            "gold": int(bool(documents & gold)),
            "n": len(texts),
        }
    return {"sop": call.sop, "seed": call.seed, "turn": index, "sources": found}


def _documents(index: Any, tools: Tools, texts: Sequence[str]) -> set[str]:
    if not texts:
        return set()
    vectors = tools.embedder.embed(list(texts))
    return {hit.doc_id for vector in vectors for hit in index.search_now(vector=vector, k=K)}


def _key(text: str) -> str:
    return _NO_WORD.sub(" ", text.lower()).strip()


def _sources(rows: Sequence[Row]) -> list[str]:
    return [name for name in SOURCES if rows and name in rows[0]["sources"]]


def _share(rows: Sequence[Row], source: str, what: str) -> Measure:
    return share(sum(row["sources"][source][what] for row in rows), len(rows))


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    if not rows:
        return {}
    found = [{name: row["sources"][name]["gold"] for name in ("bank", "garbage")} for row in rows]
    gold = [(float(one["bank"] - one["garbage"]), 1.0) for one in found]
    return {"shared_document": _share(rows, "bank", "shared"), "gold_over_nonsense": difference(gold)}


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        source: {
            **{what: _share(rows, source, what)._asdict() for what in ("same_key", "shared", "gold")},
            "guesses": round(sum(row["sources"][source]["n"] for row in rows) / max(1, len(rows)), 2),
        }
        for source in _sources(rows)
    }


def sections(rows: Sequence[Row]) -> list[Section]:
    found = figures(rows)
    table = [
        [source, *(shown(_share(rows, source, what)) for what in ("same_key", "shared", "gold")),
         found[source]["guesses"], len(rows)]
        for source in _sources(rows)
    ]  # fmt: skip
    shares = [_share(rows, source, "shared") for source in _sources(rows)]
    plot = Plot(
        "A document of the live question was fetched before it was asked (simulated, 95 % intervals)",
        "who guessed", "share of questions", _sources(rows),
        [Series("shared", [m.value or 0.0 for m in shares], [m.low for m in shares], [m.high for m in shares])],
    )  # fmt: skip
    text = (
        f"Before each question at most {GUESSES} guesses each bring {K} documents. Shared: one of them is "
        f"among the {K} that the live question brings. Gold: one of them answers it. The bank knows questions of "
        "earlier calls only. The oracle knows the question."
    )
    if "llm" not in _sources(rows):
        table.append(["llm", "not run: no model", *["-"] * 4])
    columns = ("who guessed", "same key", "shared document", "gold document", "guesses", "questions")
    return [Section("Questions", text, columns, table, plot)]


EXPERIMENT = Experiment("E3", units, play, measures, figures, sections, parallel=False)
