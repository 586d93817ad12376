"""How a call looks in a terminal: words on the left, the slow brain's work beside them, the books at the end."""

from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cuecard.events import NeedResolved
from cuecard.ledger import FELT_S, Ledger, TurnEntry

_WIDE = 100
"""From this many columns on, the notes stand beside the words and not below them."""
_HOW = {
    "ready": ("ready", "green"),
    "joined": ("nearly ready", "yellow"),
    "live": ("fetched while waiting", "red"),
    "missing": ("missing", "red"),
    "write": ("written", "magenta"),
}


def show_turn(console: Console, book: Ledger) -> None:
    """The newest turn: who spoke, what was believed, what was ready, what stalled, and why."""
    entry = book.turns[-1]
    ahead = book.turns[-2].ahead if len(book.turns) > 1 else []
    words, notes = _words(entry), _notes(entry, ahead)
    if console.width < _WIDE:
        console.print(words)
        console.print(notes)
        return
    row = Table.grid(padding=(0, 2), expand=True)
    row.add_column(ratio=3)
    row.add_column(ratio=2)
    row.add_row(words, notes)
    console.print(row)


def show_ledger(console: Console, book: Ledger, extra: dict[str, str] | None = None) -> None:
    """The books of a call; `extra` adds lines of a front (what was hidden, who played the caller)."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", justify="right")
    table.add_column()
    for name, value in {**_lines(book), **(extra or {})}.items():
        table.add_row(name, value)
    console.print(Panel(table, title="ledger", title_align="left", border_style="dim", expand=False))


def _words(entry: TurnEntry) -> Text:
    text = Text()
    if entry.words:
        text.append("caller  ", style="bold cyan").append(entry.words + "\n")
    text.append("agent   ", style="bold green").append(entry.said)
    if entry.stall_s > FELT_S:
        text.append(f"   ({entry.stall_s:.1f} s of waiting)", style="red")
    return text


def _notes(entry: TurnEntry, ahead: list[str]) -> Text:
    text = Text(style="dim")
    if entry.words:
        who = f", {entry.cohort}/{entry.mood}" if entry.cohort else ""
        text.append(f"heard {entry.state} {entry.p_state:.2f}{who}; ")
    text.append(f"{entry.action}\n")
    if ahead:
        text.append(f"meanwhile fetched {', '.join(dict.fromkeys(ahead))}\n")
    for need in entry.needs:
        _need(text, need)
    if entry.picks:
        best = ", ".join(f"{pick['dep']} {pick['cosine']:.2f}" for pick in entry.picks)
        text.append(f"cards: {best}\n")
    return text


def _need(text: Text, need: NeedResolved) -> None:
    label, style = _HOW.get(need.how, (need.how, ""))
    waited = f" {need.stall_s:.1f} s" if need.stall_s > FELT_S else ""
    text.append(f"{need.dep} ").append(f"{label}{waited}", style=style).append(f": {need.reason}\n")


def _lines(book: Ledger) -> dict[str, str]:
    needs = ", ".join(f"{n} {_HOW.get(how, (how, ''))[0]}" for how, n in sorted(book.needs.items())) or "none"
    lines = {
        "call": f"{book.sop}, {len(book.turns)} turns, {book.outcome or 'still open'}",
        "waiting": f"{book.stall_s:.1f} s",
        "needs": needs,
        "fetches": f"{book.fetches} ahead ({book.wasted} never used), {book.live} while the caller waited",
        "decided by": ", ".join(f"{tier} {share:.0%}" for tier, share in book.tiers.items()) or "nobody yet",
    }
    if book.wrote:
        lines["writes"] = ", ".join(f"{write.dep} {'done' if write.ok else 'failed'}" for write in book.wrote)
    if book.tokens:
        lines["tokens"] = str(book.tokens)
    if book.degraded:
        lines["did without"] = "; ".join(f"{one.part} ({one.reason})" for one in book.degraded)
    return lines


def show_summary(console: Console, title: str, figures: dict[str, Any]) -> None:
    """The report of many calls: a figure a line, with its interval."""
    ci = figures["ci95"]
    table = Table(title=f"{title}: {figures['n']} {figures['data']} calls, caller: {figures['caller']}", box=None)
    table.add_column("measure", style="dim")
    table.add_column("value", justify="right")
    table.add_column("95 % interval", justify="right")
    for name, unit, scale in (
        ("success_rate", " %", 100.0),
        ("turn_cap_rate", " %", 100.0),
        ("hidden_pct", " %", 1.0),
        ("stall_s_mean", " s", 1.0),
        ("turns_mean", "", 1.0),
    ):
        low, high = ci[name]
        value = "-" if figures[name] is None else f"{scale * figures[name]:.1f}{unit}"
        table.add_row(name, value, f"{scale * low:.1f} to {scale * high:.1f}")
    for k, hit in figures["hit_at"].items():
        low, high = hit["ci95"]
        rate = "-" if hit["rate"] is None else f"{100 * hit['rate']:.1f} %"
        table.add_row(f"hit at +{k}", rate, f"{100 * low:.1f} to {100 * high:.1f}")
    for name in ("fetches_mean", "wasted_mean", "p95_turn_stall_s"):
        table.add_row(name, f"{figures[name]:.2f}", "")
    shares = ", ".join(f"{tier} {share:.0%}" for tier, share in figures["tier_share"].items())
    table.add_row("tier_share", shares, "")
    table.add_row("outcomes", ", ".join(f"{name} {n}" for name, n in figures["outcomes"].items()), "")
    console.print(table)
