"""Play one simulated call on virtual time, and show what working ahead hid of its waiting."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cuecard.ledger import Ledger
    from evals.callers import CallerTurn
    from evals.calls.bench import Compared
    from evals.calls.play import Watcher


def command(
    procedure: Annotated[str, typer.Argument(help="A shipped procedure's name, or a YAML file.")] = "insurance_renewal",
    seed: Annotated[int, typer.Option(help="Who calls, and how it goes: the same seed gives the same call.")] = 0,
    prefetch: Annotated[str, typer.Option(help="value, or none: without the slow brain.")] = "value",
    pace: Annotated[float, typer.Option(min=0.0, help="1 follows the call in real time, 10 ten times as fast.")] = 0.0,
    caller: Annotated[str, typer.Option(help="agenda, or model: the same agenda in a chat model's words.")] = "agenda",
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Play one simulated call: an agenda-based caller, the agent, and what was fetched ahead.

    The same words are played three times, with nothing fetched early, with what you chose, and with an oracle, so that
    the seconds hidden are those of this very call. Simulated.
    """
    from cuecard.cli._show import show_ledger, show_turn
    from cuecard.cli.output import console, print_json, stderr
    from cuecard.clock import run_virtual
    from evals.calls.bench import NONE, OURS
    from evals.calls.report import call_report
    from sops import load_procedure

    if prefetch not in {"value", "none"}:
        raise typer.BadParameter("choose value or none", param_hint="--prefetch")
    load_procedure(procedure)  # a wrong name should fail before the models are loaded
    policy = OURS if prefetch == "value" else NONE

    def watch(book: "Ledger", turn: "CallerTurn | None") -> None:
        if pace and turn is not None:
            time.sleep((turn.turn_s + book.turns[-1].stall_s) / pace)
        show_turn(console, book)
        console.print()

    if not json:
        stderr.print(f"[dim]A simulated call to {procedure}, seed {seed}; loading models ...[/dim]")
    compared = run_virtual(_compared(procedure, seed, policy, caller, None if json else watch))
    report = call_report(compared, policy)
    if json:
        print_json(report)
        return
    saved = (
        "nothing could be hidden"
        if not report["hideable_s"]
        else (
            f"{report['hidden_s']:.1f} s of the {report['hideable_s']:.1f} s that an oracle would hide"
            f" ({report['hidden_pct']} %)"
        )
    )
    agenda = compared.agenda
    extra = {
        "hidden": saved,
        "overhead": f"{report['overhead_ms_p50']:.0f} ms to the first word (p95 {report['overhead_ms_p95']:.0f})",
        "caller": f"simulated ({compared.caller}): {agenda.cohort}, {agenda.mood}, {agenda.goal}: {report['outcome']}",
    }
    show_ledger(console, compared.played[policy].ledger, extra)


async def _compared(procedure: str, seed: int, policy: str, caller: str, watch: "Watcher | None") -> "Compared":
    from evals.calls.bench import ORACLE, Bench

    async with Bench.open() as bench:
        return await bench.compare(procedure, seed, (policy, ORACLE), watched=policy, watch=watch, caller=caller)
