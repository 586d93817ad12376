"""Serve calls: an OpenAI-compatible endpoint with sessions, metrics and a console."""

import asyncio
import logging
import socket
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cuecard.settings import Settings


def command(
    procedures: Annotated[
        list[str] | None, typer.Argument(help="Procedures to have ready at once: shipped names, or YAML files.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; others than loopback need API keys.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    memory: Annotated[bool, typer.Option("--memory", help="Keep nothing: no data folder, no database.")] = False,
) -> None:
    """Serve calls on http://HOST:PORT/v1, with a console at /console.

    A procedure is the model name. CUECARD_API_KEYS=tenant:key,... guards it; CUECARD_DATABASE_URL shares calls
    among processes.
    """
    import os

    import uvicorn

    from cuecard.cli.output import stderr
    from cuecard.server.app import create_app
    from cuecard.server.keys import load_keys
    from cuecard.settings import get_settings
    from cuecard.telemetry import JsonFormatter, langsmith_by_key
    from sops import load_procedure
    from sops.loader import names

    settings = get_settings()
    files = {load_procedure(path).name: path for path in procedures or [] if path not in names()}
    wanted = [load_procedure(path).name for path in procedures or names()]
    if host not in {"127.0.0.1", "localhost", "::1"} and not load_keys(settings):
        raise typer.BadParameter(f"{host} can be reached by others. Set CUECARD_API_KEYS=tenant:key first.")
    langsmith_by_key(settings, os.environ)
    handler = logging.StreamHandler(sys.stderr)
    if settings.json_logs:
        handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.INFO if settings.json_logs else logging.WARNING, handlers=[handler])
    listening = _listen(host, port)
    if not memory:
        # Inside the server a place that cannot be used would end in a traceback.
        asyncio.run(_try_storage(settings))
    app = create_app(settings, procedures=files, preload=wanted, persist=not memory)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
        # Nine of ten pauses of a caller are shorter than 24 s: the next turn finds its connection open.
        timeout_keep_alive=75,
        lifespan="on",
    )
    url = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    stderr.print(f"cuecard serves {', '.join(wanted)} at {url}/v1; console: {url}/console", soft_wrap=True)
    uvicorn.Server(config).run(sockets=[listening])


async def _try_storage(settings: "Settings") -> None:
    from cuecard.session.storage import open_storage

    async with open_storage(settings, persist=True):
        pass


def _listen(host: str, port: int) -> socket.socket:
    """The bound socket, before seconds go into loading models; a taken port is one clear line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        remedy = "Choose another with --port, or --port 0 for any free one."
        raise typer.BadParameter(f"Port {port} on {host} cannot be used: {error.strerror}. {remedy}") from error
    return listening
