"""Sets up an import: the store the settings point to, vectors, drafts of procedures."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.progress import Progress

from cuecard.models.embeddings import load_embedder
from cuecard.precedents import Precedents, Redactor
from cuecard.predictors.drawn import DrawnGraph
from cuecard.predictors.training.fit import Plan
from cuecard.settings import get_settings
from evals.real.derive import write_drafts
from evals.real.files import workshop
from evals.real.importing import import_sessions
from evals.real.sessions import BadLine, DataError, Loaded


async def run_import(
    loaded: Loaded,
    drawings: dict[str, DrawnGraph],
    tenant: str,
    embed: bool,
    drafts: Path | None,
    bar: Progress,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Import what could be read, say what could not, and return the figures."""
    _say_bad(loaded.bad, say)
    if not loaded.sessions:
        raise DataError("No session could be read; nothing was imported.")
    settings = get_settings()
    started = time.perf_counter()
    embedder = load_embedder(settings.embedding_model) if embed else None
    shop = workshop(lambda _: None, Plan(), 0, bar) if embed else None
    where = settings.database_url or settings.data_dir / "precedents.sqlite"
    redactor = Redactor() if settings.redact else None
    store = await Precedents.open(where, redactor=redactor, embedder=embedder)
    task = bar.add_task("sessions", total=len(loaded.sessions))
    try:
        done = await import_sessions(
            loaded.sessions, store, tenant, time.time(), shop, lambda n, total: bar.update(task, completed=n)
        )
    finally:
        await store.close()
    folder = drafts or settings.data_dir / "procedures"
    written = write_drafts(drawings, folder) if drawings else []
    return {
        **asdict(done),
        "n_skipped": len(loaded.bad),
        "skipped": [{"line": bad.number, "why": bad.why} for bad in loaded.bad],
        "procedures": [path.stem for path in written],
        "procedures_in": str(folder) if drawings else None,
        "tenant": tenant,
        "store": "postgresql" if settings.database_url else str(where),
        "seconds": round(time.perf_counter() - started, 1),
    }


def _say_bad(bad: Sequence[BadLine], say: Callable[[str], None]) -> None:
    for number, why in bad:
        say(f"line {number} skipped: {why}")
