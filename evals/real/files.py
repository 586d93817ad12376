"""Opens what the commands are given: sessions, drawings, embedder and cache."""

from collections.abc import Callable
from pathlib import Path

from rich.progress import Progress, TaskID

from cuecard.models.embeddings import load_embedder, weights_name
from cuecard.predictors.graph import GraphPrior
from cuecard.predictors.training.fit import Plan
from cuecard.settings import get_settings
from evals.real.drawings import priors, read_drawings
from evals.real.embedded import cache_file
from evals.real.sessions import DataError, Session, read_sessions
from evals.real.training import Workshop


def load_sessions(path: Path, say: Callable[[str], None]) -> list[Session]:
    """The good sessions of a file; every bad line is said by number. DataError when none is good."""
    loaded = read_sessions(path)
    for number, why in loaded.bad:
        say(f"{path}:{number}: skipped: {why}")
    if not loaded.sessions:
        raise DataError(f"{path}: no session could be read.")
    return loaded.sessions


def load_drawings(path: Path | None) -> Callable[[str], GraphPrior | None]:
    """Priors by procedure; without a file there are none."""
    drawn = priors(read_drawings(path)) if path is not None else {}
    return drawn.get


def workshop(prior: Callable[[str], GraphPrior | None], plan: Plan, seed: int, bar: Progress | None) -> Workshop:
    """Weights from the settings, vectors cached in the user's cache folder, progress on `bar`."""
    weights = get_settings().embedding_model
    tasks: dict[str, TaskID] = {}

    def advance(what: str, done: int, total: int) -> None:
        if bar is None:
            return
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total)
        bar.update(tasks[what], completed=done, total=total)

    cache = cache_file(weights_name(weights))
    return Workshop(load_embedder(weights), cache, prior, plan, seed, advance=advance)
