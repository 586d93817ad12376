"""E13: calls between people. Actions on the latest fifth of STAR, states on MultiDoGO, questions of MTRAG-UN."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.types import Predictor
from evals.experiments.e02.run import auc_change
from evals.experiments.e13.states import play_states
from evals.experiments.shared.compared import share
from evals.experiments.shared.scores import shown, top
from evals.experiments.tools import Tools
from evals.experiments.types import CannotRun, Experiment, Measure, Options, Plot, Row, Section, Series, Unit
from evals.poolbench.corpora import Library, conversations
from evals.poolbench.run import Tricks, plain, pooled
from evals.real.baselines import ExactCounts
from evals.real.files import load_sessions
from evals.real.runs import Run, fit, run_all
from evals.real.scoring import OFFSETS
from evals.real.splits import by_time, in_time_order
from evals.real.views import turn_views

BEFORE, GATHERED = "turn before", "gathered before, chosen by the live words"
GATHER = 30
"""Documents that the turn before brings into the pool."""
EARLIER = {"shrinkage": (45.6, 69.5), "of all of STAR": (52.3, 78.6)}
"""Top-1 and top-3 at +1 that counting reached before the product was built (evidence.md, section 2)."""
MTRAG_EARLIER = {BEFORE: 63.0, "live": 79.0, GATHERED: 77.0}
MULTIDOGO_EARLIER = "10 to 16"
"""Percent of real transitions that counts named; staying as it is was right in 70.7 % of turns."""
FILES = {"star.jsonl.gz": "star", "multidogo.jsonl.gz": "multidogo", "mtragun_docs.jsonl.gz": "mtrag"}
RECALLS = (0.0, 0.5, 0.9)
K = 3
DEFAULT = "shrinkage"


def units(options: Options) -> list[Unit]:
    folder = options.data
    assert folder is not None
    found = []
    for name, kind in FILES.items():
        if (folder / name).is_file():
            found.append({"key": kind, "kind": kind, "path": str(folder / name), "quick": options.quick})
    if not found:
        raise CannotRun(f"not run: no data (none of {', '.join(FILES)} in {folder.name})")
    return found


async def play(unit: Unit, tools: Tools) -> list[Row]:
    path = Path(unit["path"])
    if unit["kind"] == "mtrag":
        return _mtrag(path, tools)
    if unit["kind"] == "multidogo":
        return await play_states(path, unit["quick"])
    sessions = in_time_order(load_sessions(path, lambda line: None))
    parts = by_time(sessions[-1000:] if unit["quick"] else sessions)
    train, test = [turn_views(one) for one in parts.train], [turn_views(one) for one in parts.test]
    counted = fit(train)
    predictors: dict[str, Predictor] = {
        DEFAULT: EmpiricalPredictor(counted.decayed, lambda _: None),
        "bigram": ExactCounts(counted.plain, ("last", "sop"), "bigram"),
        "account_key": counted.account,
        "garbage": ExactCounts(counted.plain, (), "garbage"),
    }
    with ThreadPoolExecutor(1) as thread:
        # It starts a loop of its own, which ours would not allow.
        runs = thread.submit(run_all, predictors, test).result()
    multi = [one.multi_procedure for one in parts.test]
    return [row for name, run in runs.items() for row in _rows(name, run, multi)]


def _rows(name: str, run: Run, multi: Sequence[bool]) -> list[Row]:
    """A row a session: ranks of the truth at each offset."""
    rows: dict[int, Row] = {}
    for k in OFFSETS:
        for hit in run.tallies[k].actions:
            row = rows.setdefault(
                hit.session,
                {"kind": "star", "predictor": name, "session": hit.session, "multi": multi[hit.session]}
                | {f"a{n}": [] for n in OFFSETS},
            )
            row[f"a{k}"].append(hit.rank)
    return list(rows.values())


def _mtrag(path: Path, tools: Tools) -> list[Row]:
    library = conversations(path, tools.embedder.embed)
    live = plain(library)
    rows: list[Row] = [
        {"kind": "mtrag", "way": BEFORE, "hits": _hits(library, library.nearest(library.before)), "n": live.n},
        {"kind": "mtrag", "way": "live", "hits": live.hits, "n": live.n},
        {"kind": "mtrag", "way": GATHERED, "hits": _hits(library, _gathered(library)), "n": live.n},
    ]
    for recall in RECALLS:
        found = pooled(library, recall, Tricks())
        rows.append({"kind": "mtrag", "way": f"pool, predictor of recall {recall:g}", "hits": found.hits, "n": found.n})
    return rows


def _gathered(library: Library) -> list[list[int]]:
    """What the turn before brings, put in order by the live words: three of thirty."""
    found = []
    for row, candidates in enumerate(library.nearest(library.before, GATHER)):
        scores = library.vectors[candidates] @ library.questions[row]
        found.append([candidates[place] for place in np.argsort(-scores)[:K]])
    return found


def _hits(library: Library, found: Sequence[Sequence[int]]) -> int:
    return sum(bool(gold & set(one)) for gold, one in zip(library.golds, found, strict=True))


def _star(rows: Sequence[Row], predictor: str, multi: bool | None = None) -> list[Row]:
    return [
        {**row, "unit": row["session"]}
        for row in rows
        if row["kind"] == "star" and row["predictor"] == predictor and multi in (None, row["multi"])
    ]


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    own = _star(rows, DEFAULT)
    return {"star_top1_time": top(own, "a1", 1), "star_top3_time": top(own, "a1", 3)}


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["predictor"] for row in rows if row["kind"] == "star"))


def _multidogo(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["kind"] == "multidogo":
            found.setdefault(row["predictor"], []).append(row)
    return found


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    star = {
        name: {f"top{t}_at_{k}": top(_star(rows, name), f"a{k}", t)._asdict() for k in OFFSETS for t in (1, 3)}
        for name in _names(rows)
    }
    mtrag = {row["way"]: share(row["hits"], row["n"])._asdict() for row in rows if row["kind"] == "mtrag"}
    states = {
        name: {
            "transition_top1": top(own, "moved", 1)._asdict(),
            "transition_top3": top(own, "moved", 3)._asdict(),
            "stable_top1": top(own, "stable", 1)._asdict(),
            "auc_change": auc_change(own)._asdict(),
        }
        for name, own in _multidogo(rows).items()
    }
    return {"star": star, "multidogo": states, "mtragun": mtrag, "data": "crowd-sourced human-human dialogues"}


def sections(rows: Sequence[Row]) -> list[Section]:
    found = []
    if _names(rows):
        table: list[list[object]] = []
        for name in _names(rows):
            for label, multi in (("all", None), ("one procedure", False), ("several procedures", True)):
                own = _star(rows, name, multi)
                cells = [shown(top(own, f"a{k}", t)) for k in OFFSETS for t in (1, 3)]
                table.append([name, label, *cells, top(own, "a1", 1).n])
        table += [[f"measured before: {name}", "all", *figure, *["-"] * 4, "-"] for name, figure in EARLIER.items()]
        names = _names(rows)
        plot = Plot(
            "Next action of human agents, named first (people, 95 % intervals)", "agent turns ahead", "% of turns",
            [f"+{k}" for k in OFFSETS],
            [
                Series(
                    name,
                    [top(_star(rows, name), f"a{k}", 1).value or 0.0 for k in OFFSETS],
                    [top(_star(rows, name), f"a{k}", 1).low for k in OFFSETS],
                    [top(_star(rows, name), f"a{k}", 1).high for k in OFFSETS],
                )
                for name in names
            ],
        )  # fmt: skip
        columns = ("predictor", "calls", "+1 first", "+1 in 3", "+2 first", "+2 in 3", "+3 first", "+3 in 3", "turns")
        text = (
            "Fitted on the earlier four fifths by clock, scored on the latest fifth, which wanders through several "
            "procedures far oftener. `garbage` names nothing that was counted. Percent; sessions are resampled."
        )
        found.append(Section("STAR", text, columns, table, plot))
    if by := _multidogo(rows):
        found.append(_states(by))
    mtrag = [row for row in rows if row["kind"] == "mtrag"]
    if mtrag:
        table = [[row["way"], shown(share(row["hits"], row["n"])), row["n"]] for row in mtrag]
        before = [[f"measured before: {name}", f"{value / 100:g}", "-"] for name, value in MTRAG_EARLIER.items()]
        text = (
            "The gold passage among three, without a chat model. Gathered before: thirty passages by the turn before, "
            "three of them by the live words. The pools of a predictor of known recall start empty in each call and "
            "hold thirty. The earlier figures are of another sample of the same questions."
        )
        found.append(Section("MTRAG-UN", text, ("way", "gold in 3", "questions"), [*table, *before]))
    return found


def _states(by: Mapping[str, Sequence[Row]]) -> Section:
    table: list[list[object]] = [
        [name, shown(top(own, "moved", 1)), shown(top(own, "moved", 3)), shown(top(own, "stable", 1)),
         shown(auc_change(own)), top(own, "moved", 1).n, top(own, "stable", 1).n]
        for name, own in by.items()
    ]  # fmt: skip
    table.append(["measured before: counts, affective states", MULTIDOGO_EARLIER, *["-"] * 5])
    names = list(by)
    shares = [top(by[name], "moved", 1) for name in names]
    plot = Plot(
        "The customer's next state named first, where it changes (people, 95 % intervals)", "predictor", "% of turns",
        names, [Series("changes", [m.value or 0.0 for m in shares], [m.low for m in shares], [m.high for m in shares])],
    )  # fmt: skip
    text = (
        "The set's train part against its dev part. Inertia says that things stay as they are. Content states change "
        "nearly every turn, affective ones hardly: the earlier figure is of the latter, no bar for this set. Percent."
    )
    columns = ("predictor", "change first", "change in 3", "stays", "AUC of change", "n change", "n stays")
    return Section("MultiDoGO", text, columns, table, plot)


EXPERIMENT = Experiment("E13", units, play, measures, figures, sections, data="human")
