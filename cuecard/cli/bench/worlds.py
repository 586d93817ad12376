"""What prefetching is worth in ten simulated worlds: ours beside naive rules, garbage and an oracle."""

from typing import Annotated

import typer

from cuecard.cli.output import console, print_json, progress


def command(
    world: Annotated[list[str] | None, typer.Option(help="Only this world (W1 ... W7); may be repeated.")] = None,
    seeds: Annotated[int, typer.Option(help="World seeds per world.")] = 5,
    seed_base: Annotated[int, typer.Option(help="Seeds are base+1, base+2, ...")] = 0,
    allowance: Annotated[float, typer.Option(help="Wasted fetches a call that ours may cost on average.")] = 8.8,
    price: Annotated[
        float, typer.Option(help="Least price of a fetch, in stall-seconds; more of it wastes less.")
    ] = 0.0,
    explore: Annotated[bool, typer.Option(help="Thompson sampling on ours' decision to fetch.")] = False,
    processes: Annotated[int, typer.Option(help="Worlds played at once.")] = 2,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Play 300 calls per world, seed and policy on virtual time, over the real scheduler, pool and broker.

    Everything is simulated. Ours learns from 300 other calls. Under ten minutes on two cores for all worlds.
    """
    from cuecard.prefetch.allowance import Allowance
    from evals.worlds.bench import POLICIES, bench
    from evals.worlds.world import DESCRIPTIONS, WORLDS

    chosen = world or list(WORLDS)
    unknown = [name for name in chosen if name not in WORLDS]
    if unknown:
        raise typer.BadParameter(f"no world {unknown[0]!r}; there are {', '.join(WORLDS)}.")
    with progress() as bar:
        bar_task = bar.add_task("worlds", total=len(chosen) * seeds)
        report = bench(
            chosen,
            range(seed_base + 1, seed_base + 1 + seeds),
            allowance=Allowance(wasted=allowance),
            price_s=price,
            explore=explore,
            processes=processes,
            on_done=lambda: bar.advance(bar_task),
        )
    if json:
        print_json(report)
        return
    for name, rows in report.items():
        console.print(f"\n[bold]{name}[/bold] {DESCRIPTIONS[name]} (simulated)")
        console.print("  policy            hidden %        wasted  fetches  net@0.1  stall s/call  p95 turn s")
        for policy in POLICIES:
            row = rows[policy]
            low, high = row["hidden_pct_range"]
            console.print(
                f"  {policy:16} {row['hidden_pct']:5.1f} [dim]{low:5.1f}-{high:<5.1f}[/dim]  {row['wasted']:6.1f}  "
                f"{row['fetches']:7.1f}  {row['net_0.1']:7.2f}  {row['stall_s_per_call']:12.2f}  "
                f"{row['p95_turn_stall_s']:10.2f}"
            )
