"""Run the experiments on bars set beforehand, a dataset through LangSmith's evaluator, or the check of the reports."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evals.experiments.command import Outcome


def command(
    name: Annotated[str, typer.Argument(help="E1 to E13, all, check, report, or a dataset: next_action, state, ...")],
    quick: Annotated[bool, typer.Option(help="A few calls of each procedure.")] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Calls of each procedure.")] = None,
    seed_base: Annotated[int | None, typer.Option(min=0, help="Seed of the first call; the others follow.")] = None,
    procedure: Annotated[list[str] | None, typer.Option(help="Name or YAML file; may be given several times.")] = None,
    data: Annotated[Path | None, typer.Option(help="Recorded human calls, for E13.")] = None,
    processes: Annotated[int, typer.Option(min=1, max=16, help="Processes, each with an engine of its own.")] = 2,
    record: Annotated[bool, typer.Option(help="Keep rows and report beside the bar, in this source tree.")] = False,
    again: Annotated[bool, typer.Option(help="Start anew instead of going on with an interrupted run.")] = False,
    model_mark: Annotated[str, typer.Option(help="What the chat model is, to stand beside its figures.")] = "",
    out: Annotated[Path | None, typer.Option(help="Folder of rows, reports and the HTML page.")] = None,
    upload: Annotated[bool, typer.Option(help="Send dataset and results to LangSmith (LANGSMITH_API_KEY).")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Run experiments whose bars were committed beforehand; a missed bar is a result.

    `check` regenerates every kept report from its rows and fails on drift; `report` writes the HTML page of the kept
    runs. Runs go on where they were interrupted. Simulated callers on virtual time, unless a line says otherwise.
    """
    from cuecard.settings import get_settings

    settings = get_settings()
    folder = out or settings.data_dir / "evals"
    if name == "check":
        _check(json)
    elif name == "report":
        _report(folder, json)
    elif _is_dataset(name):
        _dataset(name, quick, upload, json)
    else:
        from evals.experiments.types import PROCEDURES, SEED_BASE, Options

        options = Options(
            procedures=tuple(procedure or PROCEDURES),
            seed_base=SEED_BASE if seed_base is None else seed_base,
            seeds=seeds,
            quick=quick,
            data=data,
            workers=processes,
        )
        _experiments(name, options, folder, record, again, model_mark, upload, json)


def _experiments(
    name: str, options: object, folder: Path, record: bool, again: bool, mark: str, upload: bool, json: bool
) -> None:
    from cuecard.cli.output import console, print_json, progress, stderr
    from cuecard.settings import get_settings
    from evals.experiments import registry
    from evals.experiments.bars import FOLDER
    from evals.experiments.command import run_experiments, write_page
    from evals.experiments.spoken_progress import SpokenProgress
    from evals.experiments.types import Options
    from sops import load_procedure

    assert isinstance(options, Options)
    for one in options.procedures:
        load_procedure(one)  # a wrong name should fail before the models are loaded
    names = registry.names() if name == "all" else [registry.load(name).name]
    settings = get_settings()
    with progress() as bar:
        tasks = {one: bar.add_task(one, total=None) for one in names}
        spoken = SpokenProgress(lambda text: stderr.print(text, markup=False), names)

        def advance(one: str, done: int, total: int) -> None:
            bar.update(tasks[one], completed=done, total=total)
            if not stderr.is_terminal:
                spoken.at(one, done, total)

        outcome = run_experiments(
            names,
            options,
            settings,
            folder,
            mark=mark,
            again=again,
            keep_in=FOLDER if record else None,
            advance=advance,
            say=lambda text: stderr.print(text, style="dim", markup=False),
        )
    page = write_page(outcome, folder)
    if upload:
        _upload(outcome)
    if json:
        for line in outcome.lines:
            print_json(line)
        print_json(outcome.figures.get(names[0], outcome.lines[0]) if name != "all" else {"experiments": outcome.lines})
    else:
        _show(outcome, console)
        console.print(f"report: {page}")
    if outcome.failed:
        raise typer.Exit(1)


def _show(outcome: "Outcome", console: object) -> None:
    from rich.console import Console
    from rich.table import Table

    assert isinstance(console, Console)
    table = Table(box=None)
    for column in ("experiment", "bar", "value", "95 %", "n", "verdict"):
        table.add_column(column)
    for line in outcome.lines:
        low, high = line["ci"]
        value = "-" if line["value"] is None else f"{line['value']:g}"
        between = "-" if low is None else f"{low:g} to {high:g}"
        table.add_row(line["name"], line["bar"], value, between, str(line["n"]), line["verdict"])
    console.print(table)


def _check(json: bool) -> None:
    from cuecard.cli.output import console, print_json
    from evals.experiments.check import check, recorded

    found = list(check())
    if json:
        print_json({"ok": not found, "checked": len(recorded()), "drift": found})
    else:
        for line in found:
            console.print(line, style="red", markup=False)
        console.print(f"{len(recorded())} recorded runs checked, {len(found)} problems")
    if found:
        raise typer.Exit(1)


def _report(folder: Path, json: bool) -> None:
    from cuecard.cli.output import console, print_json
    from evals.experiments.command import recorded_outcome, write_page

    outcome = recorded_outcome()
    path = write_page(outcome, folder)
    if json:
        print_json({"page": str(path), "experiments": outcome.lines})
        return
    _show(outcome, console)
    console.print(f"report: {path}")


def _is_dataset(name: str) -> bool:
    from evals.langsmith_sets import DATASETS

    return name in DATASETS


def _dataset(name: str, quick: bool, upload: bool, json: bool) -> None:
    from cuecard.cli.output import console, print_json
    from evals.langsmith_sets.evaluate import evaluate_dataset

    figures = evaluate_dataset(name, at_most=20 if quick else None, upload=upload)
    if json:
        print_json(figures)
        return
    for key, one in figures["scores"].items():
        console.print(f"{key}: {one['mean']:.3f} ({one['ci'][0]:.3f} to {one['ci'][1]:.3f}), n {one['n']}")


def _upload(outcome: "Outcome") -> None:
    from cuecard.cli.output import stderr
    from evals.langsmith_sets.upload import upload_results

    for name, results in outcome.results.items():
        stderr.print(f"{name}: {upload_results(name, results)} rows sent to LangSmith")
