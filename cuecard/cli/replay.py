"""Play recorded sessions again under other policies, prices and predictors: ready, stalled, wasted, recommended."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table


def command(
    log: Annotated[Path, typer.Argument(help="A session's event log, or imported sessions, one JSON object a line.")],
    policy: Annotated[
        list[str] | None, typer.Option(help="ours, all_at_identity, refresh_all, partial, garbage; several times.")
    ] = None,
    price: Annotated[
        list[float] | None, typer.Option(min=0.0, help="Play ours at this price of a fetch too; several times.")
    ] = None,
    predictor: Annotated[
        list[str] | None, typer.Option(help="Play ours with graph, mcts or garbage too; several times.")
    ] = None,
    procedure: Annotated[str, typer.Option(help="Whose procedure, where the file does not say.")] = "",
    fetch_cost: Annotated[float, typer.Option(min=0.0, help="Seconds of stall a fetch is worth, to recommend.")] = 0.1,
    at_most: Annotated[int | None, typer.Option(min=1, help="Only the first calls of the file.")] = None,
    out: Annotated[Path | None, typer.Option(help="The HTML page; default: replay.html in the data folder.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """What would have been ready, waited for and wasted had the same words met other settings.

    The caller's words and pauses are those of the record, back ends are simulated, time is virtual. Nothing and an
    oracle stand beside every answer.
    """
    from cuecard.cli.output import console, print_json, progress
    from cuecard.clock import run_virtual
    from cuecard.settings import get_settings
    from evals.replay.play import NAIVE, PREDICTORS, Setting, replay, summary
    from evals.replay.report import COLUMNS, SHORT, write_page
    from evals.replay.script import check_procedures, read_scripts

    policies = policy or ["ours", *NAIVE, "garbage"]
    for name in policies:
        if name not in {"ours", "garbage", *NAIVE}:
            raise typer.BadParameter(f"{name} is none of ours, garbage, {', '.join(NAIVE)}", param_hint="--policy")
    for name in predictor or []:
        if name not in PREDICTORS:
            raise typer.BadParameter(f"{name} is none of {', '.join(PREDICTORS)}", param_hint="--predictor")
    scripts = read_scripts(log)[:at_most]
    check_procedures(log, [procedure] if procedure else [script.procedure for script in scripts])
    chosen = [
        *(Setting(name) for name in policies),
        *(Setting(price_s=price_s) for price_s in price or []),
        *(Setting(predictor=name) for name in predictor or []),
    ]
    with progress() as bar:
        task = bar.add_task("calls played again", total=len(scripts))
        tallies = run_virtual(
            replay(
                scripts,
                chosen,
                procedure=procedure,
                settings=get_settings(),
                advance=lambda done, total: bar.update(task, completed=done),
            )
        )
    result = summary(tallies, fetch_cost)
    page = write_page(result, log.name, out or get_settings().data_dir / "replay.html")
    if json:
        print_json({**result, "page": str(page)})
        return
    console.print(_table(result["settings"], {name: SHORT.get(name, name) for name in COLUMNS}))
    console.print(f"Take {result['recommendation']['setting']}: {result['recommendation']['why']}.")
    console.print(f"page: {page}")


def _table(rows: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> "Table":
    """One row a setting; titles of two words take two lines, so that eighty columns hold all of them."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0))
    for name, title in titles.items():
        justify: Any = "left" if name == "setting" else "right"
        table.add_column(title.replace(" ", "\n"), justify=justify, vertical="bottom", no_wrap=True)
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in titles))
    return table


def _cell(value: object) -> str:
    """Hundredths are enough to choose by; the page and `--json` have the rest."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return "-" if value is None else str(value)
