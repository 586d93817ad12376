"""Remove a call, or a whole tenant, from the counts, checkpoints, blackboard, logs and write ledger."""

import asyncio
import sys
from typing import Annotated

import typer

DEFAULT = "default"
"""Tenant of calls that belong to nobody in particular."""


def command(
    name: Annotated[str, typer.Argument(metavar="SESSION|TENANT", help="Name of a call, or of a tenant.")],
    tenant: Annotated[str | None, typer.Option(help="Whose call, when several tenants have one so named.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before removing a tenant.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Remove a call, or all calls of a tenant, and take back what they added to the counts.

    Of a write that was made, a hash stays until its keep-by date, so that it is not made twice. Looks where
    CUECARD_DATABASE_URL or CUECARD_DATA_DIR point. A running server need not stop.
    """
    from cuecard.cli.output import console, print_json

    found = asyncio.run(_forgotten(name, tenant, ask=sys.stdin.isatty() and not yes))
    if json:
        print_json(found)
        return
    console.print(f"Forgotten: the {found['kind']} {name} of {found['tenant']}, {found['n_turns']} turns.")


async def _forgotten(name: str, tenant: str | None, *, ask: bool) -> dict[str, object]:
    from cuecard.session.outdated import empty_journals
    from cuecard.settings import get_settings

    found = await _forget(name, tenant, ask=ask)
    # When our own connections are closed: one of them may still be reading.
    await asyncio.to_thread(empty_journals, get_settings().data_dir, wait_s=1.0)
    return found


async def _forget(name: str, tenant: str | None, *, ask: bool) -> dict[str, object]:
    from cuecard.precedents import Precedents
    from cuecard.session.forgetting import forget_traces, traces, with_checkpoints
    from cuecard.session.storage import open_storage
    from cuecard.settings import get_settings

    settings = get_settings()
    async with open_storage(settings, persist=True) as storage:
        precedents = await Precedents.open(settings.database_url or settings.data_dir / "precedents.sqlite")
        try:
            left = await traces(settings, storage)
            owners = {*await precedents.tenants_with(name), *(owner for owner, session in left if session == name)}
            likely = {tenant or DEFAULT, *await precedents.tenants(), *(owner for owner, _ in left)}
            owners |= await with_checkpoints(likely, name, storage)
            is_tenant = await precedents.is_tenant(name) or any(owner == name for owner, _ in left)
            owner = _chosen(name, tenant, owners, is_tenant)
            if owner is not None:
                await forget_traces(owner, [name], settings, storage)
                n_turns = await precedents.forget_session(owner, name)
                return {"kind": "call", "name": name, "tenant": owner, "n_turns": n_turns}
            if ask:
                typer.confirm(f"Remove everything that is stored of the tenant {name}?", abort=True)
            theirs = {session for owner, session in left if owner == name}
            for session in await precedents.sessions_of(name):
                if await with_checkpoints([name], session, storage):
                    theirs.add(session)
            await forget_traces(name, theirs, settings, storage)
            n_turns = await precedents.forget_tenant(name)
            return {"kind": "tenant", "name": name, "tenant": name, "n_turns": n_turns}
        finally:
            await precedents.close()


def _chosen(name: str, tenant: str | None, owners: set[str], is_tenant: bool) -> str | None:
    """The tenant whose call is meant; None when a whole tenant is."""
    if tenant is not None:
        if tenant not in owners:
            raise typer.BadParameter(f"The tenant {tenant} has no call {name}.")
        return tenant
    if not owners and not is_tenant:
        raise typer.BadParameter(f"Nothing is stored under {name}: it is neither a call nor a tenant here.")
    if len(owners) + is_tenant > 1:
        meant = f"calls of {', '.join(sorted(owners))}" + (" and also a tenant" if is_tenant else "")
        raise typer.BadParameter(f"{name} names {meant}. Say whose call with --tenant.")
    return owners.pop() if owners else None
