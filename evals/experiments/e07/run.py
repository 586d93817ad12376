"""E7: who generates the query. From a stub to the live question, on coarse, fine and large corpora."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from cuecard.ledger import percentile
from cuecard.predictors.counts import HORIZON
from cuecard.predictors.garbage import SENTENCES
from cuecard.predictors.types import SessionView, TurnView
from evals.experiments.shared.compared import share
from evals.experiments.shared.scores import shown
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Options, Plot, Row, Section, Series, Unit
from evals.retrieve import CORPORA, Question, load_questions
from sops.loader import load_procedure

KINDS = {"coarse": CORPORA[:3], "fine": CORPORA[3:4], "large": CORPORA[4:]}
SOURCES = ("stub", "before", "bank", "mcts", "llm", "garbage", "live")
GUESSES, K = 5, 3
CHUNK, QUICK_QUESTIONS = 60, 30
"""Questions a unit holds, and how many of each corpus a quick run asks."""


def units(options: Options) -> list[Unit]:
    found = []
    # Embedding the large corpora takes minutes, and the bar is on the coarse ones.
    for corpus in CORPORA[:3] if options.quick else CORPORA:
        n = len(load_questions(corpus, "test"))
        n = min(n, options.seeds or QUICK_QUESTIONS) if options.quick or options.seeds else n
        for start in range(0, n, CHUNK):
            end = min(n, start + CHUNK)
            found.append({"key": f"{corpus}/{start:05d}", "corpus": corpus, "start": start, "end": end})
    return found


async def play(unit: Unit, tools: Tools) -> list[Row]:
    """Whether three documents, picked by the live words out of what a source's queries brought, hold the answer."""
    corpus = unit["corpus"]
    asked = load_questions(corpus, "test")[unit["start"] : unit["end"]]
    bank = load_questions(corpus, "dev")
    index = tools.index(corpus)
    embed = tools.embedder.embed
    live, before = embed([one.words for one in asked]), embed([one.before or one.words[:0] or "hello" for one in asked])
    bank_words, bank_before = embed([one.words for one in bank]), embed([one.before or "hello" for one in bank])
    imagined = embed(_imagined(corpus))
    nonsense = embed(list(SENTENCES))
    stub = embed([_stub(corpus)])
    rng = random.Random(unit["key"])
    rows = []
    for n, question in enumerate(asked):
        nearest = np.argsort(-(bank_before @ before[n]))[:GUESSES]
        queries = {
            "stub": stub,
            "before": before[n : n + 1],
            "bank": bank_words[nearest],
            "mcts": imagined[rng.sample(range(len(imagined)), min(GUESSES, len(imagined)))],
            "garbage": nonsense,
            "live": live[n : n + 1],
        }
        row = {"corpus": corpus, "n": unit["start"] + n}
        if tools.answers is not None:
            made = await tools.answers.forecast(_view(corpus, question), HORIZON)
            said = [one.text for one in made.utterances][:GUESSES]
            queries["llm"] = embed(said)
            row |= {"llm_tokens": made.tokens, "llm_ms": round(made.ms, 1), "llm_guesses": len(said)}
        rows.append(row | {"hits": {s: _hit(index, q, live[n], question) for s, q in queries.items()}})
    return rows


def _view(corpus: str, question: Question) -> SessionView:
    """The call before the question, as far as the set knows it: one turn."""
    turns = (TurnView(question.previous_caller, "", "", question.previous_agent),) if question.before else ()
    return SessionView(sop=_procedure(corpus), turns=turns)


def _hit(index: Any, queries: Any, live: Any, question: Question) -> int:
    found = {hit.doc_id: hit.text for query in queries for hit in index.search_now(vector=query, k=K)}
    if len(found) > K:
        order = [hit.doc_id for hit in index.search_now(vector=live, k=len(index.documents))]
        chosen = [doc_id for doc_id in order if doc_id in found][:K]
    else:
        chosen = list(found)
    return int(bool(set(chosen) & question.doc_ids))


def _procedure(corpus: str) -> str:
    return "insurance_renewal" if corpus.startswith("insurance") else corpus


def _stub(corpus: str) -> str:
    return f"a question about {load_procedure(_procedure(corpus)).title}"


def _imagined(corpus: str) -> list[str]:
    """What the tree search's callers say when they ask: the procedure's own examples of asking states."""
    states = load_procedure(_procedure(corpus)).states.values()
    return [text for state in states if state.asks for text in state.examples]


def _share(rows: Sequence[Row], kind: str, source: str) -> Measure:
    own = [row for row in rows if row["corpus"] in KINDS[kind]]
    return share(sum(row["hits"][source] for row in own), len(own))


def recovered(rows: Sequence[Row], kind: str, source: str = "bank") -> Measure:
    """Share of the gap between stub and live question that this source closes; questions are resampled."""
    own = [row["hits"] for row in rows if row["corpus"] in KINDS[kind]]
    if not own:
        return Measure(None, float("nan"), float("nan"), 0)
    table = np.array([[one[source], one["stub"], one["live"]] for one in own], float)
    draws = np.random.default_rng(0).integers(0, len(table), (2000, len(table)))
    values = [_closed(table[rows_].mean(axis=0)) for rows_ in draws]
    known = [value for value in values if value is not None]
    low, high = np.percentile(known, [2.5, 97.5]) if known else (float("nan"), float("nan"))
    value = _closed(table.mean(axis=0))
    return Measure(None if value is None else round(value, 3), round(float(low), 3), round(float(high), 3), len(own))


def _closed(means: Any) -> float | None:
    source, stub, live = (float(one) for one in means)
    return (source - stub) / (live - stub) if live > stub else None


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    return {"gap_recovered_coarse": recovered(rows, "coarse")}


def _sources(rows: Sequence[Row]) -> list[str]:
    return [source for source in SOURCES if rows and source in rows[0]["hits"]]


def _between(rows: Sequence[Row]) -> list[str]:
    """Sources that lie between the stub and the live question."""
    return [source for source in ("before", "bank", "mcts", "llm") if source in _sources(rows)]


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    out: dict[str, Any] = {
        kind: {source: _share(rows, kind, source)._asdict() for source in _sources(rows)}
        | {"gap_recovered": {s: recovered(rows, kind, s)._asdict() for s in _between(rows)}}
        for kind in KINDS
    }
    asked = [row for row in rows if "llm_ms" in row]
    if not asked:
        return out | {"llm": "not run: no model"}
    return out | {
        "llm": {
            "tokens_per_question": round(sum(row["llm_tokens"] for row in asked) / len(asked), 1),
            "ms_p50": round(percentile([row["llm_ms"] for row in asked], 50), 1),
            "guesses": round(sum(row["llm_guesses"] for row in asked) / len(asked), 2),
            "n": len(asked),
        }
    }


def sections(rows: Sequence[Row]) -> list[Section]:
    names = _sources(rows)
    kinds = [kind for kind in KINDS if _share(rows, kind, "live").n]
    table: list[list[object]] = [[source, *(shown(_share(rows, kind, source)) for kind in kinds)] for source in names]
    if "llm" not in names:
        table.insert(4, ["llm", "not run: no model", *["-"] * (len(kinds) - 1)])
    table.append(["questions", *(_share(rows, kind, "live").n for kind in kinds)])
    plot = Plot(
        "The answering document among three, by who made the query (95 % intervals)", "query", "share of questions",
        names,
        [
            Series(
                kind,
                [_share(rows, kind, source).value or 0.0 for source in names],
                [_share(rows, kind, source).low for source in names],
                [_share(rows, kind, source).high for source in names],
            )
            for kind in kinds
        ],
    )  # fmt: skip
    text = (
        f"Each source makes at most {GUESSES} queries of {K} documents before the caller speaks; the live words then "
        "pick three. Questions of the coarse corpora were written by hand, the others generated. No document "
        "is asked twice in the generated sets, so a bank of other callers' questions can't know them: that is its "
        "floor. MCTS stands for its imagined sentences; a chat model saw the turn before and nothing else."
    )
    closed = [[s, *(shown(recovered(rows, kind, s)) for kind in kinds)] for s in _between(rows)]
    return [
        Section("Queries", text, ("query", *kinds), table, plot),
        Section("Share of the gap from stub to live that is closed", "", ("query", *kinds), closed),
    ]


EXPERIMENT = Experiment(
    "E7", units, play, measures, figures, sections, data="simulated and hand-written", parallel=False
)
