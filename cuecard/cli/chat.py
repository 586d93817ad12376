"""Have the call yourself: you speak, the agent answers, and you see what was ready."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cuecard.context import Context
    from cuecard.session import Engine, Session


def command(
    procedure: Annotated[str, typer.Argument(help="A shipped procedure's name, or a YAML file.")] = "insurance_renewal",
    session: Annotated[str | None, typer.Option(help="Take up this call, or start it under this name.")] = None,
    prefetch: Annotated[str, typer.Option(help="value, or none: without the slow brain.")] = "value",
    plain: Annotated[bool, typer.Option("--plain", help="Only the agent's words: for pipes.")] = False,
    tenant: Annotated[str, typer.Option(help="Whose caller you are.")] = "default",
) -> None:
    """Have the call yourself, on the wall clock.

    Type what you would say; an empty line or Ctrl-D hangs up. The call is kept: give its name with --session to go on.
    """
    from cuecard.context import Context

    if prefetch not in {"value", "none"}:
        raise typer.BadParameter("choose value or none", param_hint="--prefetch")
    context = Context(procedure=procedure, tenant=tenant, prefetch=prefetch)
    try:
        asyncio.run(_talk(procedure, session, context, plain=plain or not sys.stdout.isatty()))
    except KeyboardInterrupt:
        sys.exit(130)


async def _talk(procedure: str, name: str | None, context: "Context", *, plain: bool) -> None:
    from cuecard.cli.output import console
    from sops import load_procedure

    # A wrong name should fail before the models are loaded.
    load_procedure(procedure)
    async with _quiet_engine(plain) as engine:
        session = await engine.session(procedure, session_id=name, context=context)
        if not plain:
            console.print(f"[dim]call {session.session_id}; an empty line hangs up[/dim]")
        greeting = await session.greet()
        if greeting.text:
            _say(greeting.text, plain)
        async for line in _lines(plain):
            await _turn(session, line, plain)
            if session.reply.ended:
                break
        await session.hang_up()
        if not plain:
            _ledger(session)


async def _turn(session: "Session", line: str, plain: bool) -> None:
    """One exchange; a failed turn says so and the call goes on."""
    from cuecard.cli.output import console

    if not plain:
        console.print("[bold]agent[/bold] ", end="")
    seen = len(session.log.events)
    session.expect(line)
    async with session.order(), aclosing(session.speak(line)) as pieces:
        async for piece in pieces:
            print(piece.text, end=" " if piece.holding else "", flush=True)
    print()
    _done_without(session, seen)
    if not plain:
        _aside(session)


def _done_without(session: "Session", seen: int) -> None:
    """Say on stderr what failed in this turn: the caller only hears a reply that does without it."""
    from cuecard.cli.output import stderr
    from cuecard.events import Degraded

    for event in session.log.events[seen:]:
        if isinstance(event, Degraded):
            stderr.print(
                f"cuecard: did without {event.part}: {event.reason}", style="yellow", markup=False, soft_wrap=True
            )


def _say(text: str, plain: bool) -> None:
    from cuecard.cli.output import console

    console.print(text if plain else f"[bold]agent[/bold] {text}", markup=not plain, soft_wrap=True)


async def _lines(plain: bool) -> AsyncIterator[str]:
    """The caller's lines; reading happens in a thread, so that the supervisor works while somebody types."""
    lines: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    # A thread of the loop's own pool would be waited for at the end: Ctrl-C would hang until the next Return.
    threading.Thread(target=_read, args=(lines, loop), daemon=True).start()
    while True:
        if not plain:
            print("you   ", end="", flush=True)
        line = await lines.get()
        if not line.strip():
            if line and plain:
                continue
            return
        yield line.strip()


def _read(lines: "asyncio.Queue[str]", loop: asyncio.AbstractEventLoop) -> None:
    """Every line of standard input, then an empty string.

    Through a reader of its own: the interpreter cannot shut down while a thread waits inside `sys.stdin`.
    """
    with open(sys.stdin.fileno(), encoding="utf-8", errors="replace", closefd=False) as stdin, suppress(RuntimeError):
        # RuntimeError: the loop has ended, and with it the call.
        for line in iter(stdin.readline, ""):
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, "")


def _aside(session: "Session") -> None:
    """What happened beside this turn, in one dim line: belief, what was ready, what stalled and why."""
    from cuecard.cli.output import console
    from cuecard.ledger import ledger_of

    entry = ledger_of(session.log.events).turns[-1]
    parts = [f"{entry.state} {entry.p_state:.0%}" if entry.state else "", f"step {entry.action}", entry.why]
    console.print("      " + " · ".join(part for part in parts if part), style="dim", markup=False)


def _ledger(session: "Session") -> None:
    from cuecard.cli.output import console
    from cuecard.ledger import ledger_of

    ledger = ledger_of(session.log.events)
    console.print(
        f"call {session.session_id}: {len(ledger.turns)} turns, you waited {ledger.stall_s:.1f} s for data; "
        f"{ledger.fetches} background fetches, {ledger.wasted} unused. "
        f"Outcome: {session.board.desk.outcome or 'open'}.",
        style="dim",
        markup=False,
    )


@asynccontextmanager
async def _quiet_engine(plain: bool) -> AsyncIterator["Engine"]:
    """An open engine; people see that models are loading, pipes see nothing."""
    from cuecard.cli.output import stderr
    from cuecard.session import Engine

    async with AsyncExitStack() as stack:
        if plain:
            yield await stack.enter_async_context(Engine.open())
            return
        with stderr.status("loading models ..."):
            engine = await stack.enter_async_context(Engine.open())
        yield engine
