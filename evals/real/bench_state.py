"""Sets up `bench state`: the split, and a model trained for it."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.progress import Progress

from cuecard.predictors.training.extra import require_training
from cuecard.predictors.training.fit import Plan
from evals.real.embedded import with_embeddings
from evals.real.files import load_sessions, workshop
from evals.real.states import bench_states, compare_states, parts, state_turns
from evals.real.training import train_file


def run_states(
    data: Path,
    test: Path | None,
    model: Path | None,
    embed: bool,
    n_members: int,
    seed: int,
    bar: Progress,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """The object `bench state` prints. `model` is where the model for this split goes; None: counts alone."""
    if model is not None:
        require_training()
    split = parts(load_sessions(data, say), load_sessions(test, say) if test is not None else None)
    # These sets have no clock and lie domain by domain, and the mixture is fitted on the latest sessions.
    split = split._replace(train=random.Random(seed).sample(split.train, len(split.train)))
    if model is None:
        return bench_states(split, None)
    plan = Plan(n_members=n_members, n_epochs=8)
    shop = replace(workshop(lambda _: None, plan, seed, bar), views=state_turns, words_only=not embed)
    outcome = train_file(split.train, model, shop)
    if not embed:
        return {**bench_states(split, model), "train_s": outcome.train_s}
    turns = with_embeddings([state_turns(session) for session in split.test], shop.embedder, shop.cache)
    scored = compare_states([state_turns(session) for session in split.train], turns, model)
    return {**bench_states(split, None), **scored, "train_s": outcome.train_s}
