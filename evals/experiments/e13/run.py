"""E13: calls between people. The predictor on the latest fifth of STAR, the pool on MTRAG-UN's questions."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.types import Predictor
from evals.experiments.shared.compared import share
from evals.experiments.shared.scores import shown, top
from evals.experiments.tools import Tools
from evals.experiments.types import CannotRun, Experiment, Measure, Options, Plot, Row, Section, Series, Unit
from evals.poolbench.corpora import conversations
from evals.poolbench.run import Tricks, plain, pooled
from evals.real.baselines import ExactCounts
from evals.real.files import load_sessions
from evals.real.runs import Run, fit, run_all
from evals.real.scoring import OFFSETS
from evals.real.splits import by_time, in_time_order
from evals.real.views import turn_views

EARLIER = {"shrinkage": (45.6, 69.5), "of all of STAR": (52.3, 78.6)}
"""Top-1 and top-3 at +1 that counting reached before the product was built (evidence.md, section 2)."""
MTRAG_EARLIER = {"live": 79.0, "pool": 77.0}
RECALLS = (0.0, 0.5, 0.9)
DEFAULT = "shrinkage"


def units(options: Options) -> list[Unit]:
    folder = options.data
    assert folder is not None
    found = []
    for name, kind in (("star.jsonl.gz", "star"), ("mtragun_docs.jsonl.gz", "mtrag")):
        if (folder / name).is_file():
            found.append({"key": kind, "kind": kind, "path": str(folder / name), "quick": options.quick})
    if not found:
        raise CannotRun(f"not run: no data (neither star.jsonl.gz nor mtragun_docs.jsonl.gz in {folder.name})")
    return found


async def play(unit: Unit, tools: Tools) -> list[Row]:
    path = Path(unit["path"])
    if unit["kind"] == "mtrag":
        return _mtrag(path, tools)
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
    rows: list[Row] = [{"kind": "mtrag", "way": "live", "hits": live.hits, "n": live.n}]
    for recall in RECALLS:
        found = pooled(library, recall, Tricks())
        rows.append({"kind": "mtrag", "way": f"pool, predictor of recall {recall:g}", "hits": found.hits, "n": found.n})
    return rows


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


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    star = {
        name: {f"top{t}_at_{k}": top(_star(rows, name), f"a{k}", t)._asdict() for k in OFFSETS for t in (1, 3)}
        for name in _names(rows)
    }
    mtrag = {row["way"]: share(row["hits"], row["n"])._asdict() for row in rows if row["kind"] == "mtrag"}
    return {"star": star, "mtragun": mtrag, "data": "crowd-sourced human-human dialogues"}


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
    mtrag = [row for row in rows if row["kind"] == "mtrag"]
    if mtrag:
        table = [[row["way"], shown(share(row["hits"], row["n"])), row["n"]] for row in mtrag]
        before = [[f"measured before: {name}", f"{value / 100:g}", "-"] for name, value in MTRAG_EARLIER.items()]
        text = "The gold passage among three. The pool starts empty in each call and holds thirty."
        found.append(Section("MTRAG-UN", text, ("way", "gold in 3", "questions"), [*table, *before]))
    return found


EXPERIMENT = Experiment("E13", units, play, measures, figures, sections, data="human", parallel=False)
