"""Sets up `bench curve`: who teaches, who tests, and how models are trained along the way."""

import hashlib
import random
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.progress import Progress

from cuecard.predictors.learned import LearnedPredictor
from cuecard.predictors.training.extra import require_training
from cuecard.predictors.training.fit import Plan
from evals.real.curve import CurvePlan, curve
from evals.real.curve_plot import draw
from evals.real.embedded import with_embeddings
from evals.real.files import load_drawings, load_sessions, workshop
from evals.real.kept import Kept
from evals.real.splits import at_random
from evals.real.training import train_file
from evals.real.views import turn_views

_MODEL_PLAN = Plan(n_members=3)


def run_curve(
    data: Path,
    sops: Path | None,
    plan: CurvePlan,
    n_test: int,
    learn: bool,
    plot: Path | None,
    bar: Progress,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """The whole of `bench curve`, as the object it prints. With `learn`, minutes of training per size.

    A run that was cut off goes on with the subsets that are left, if it is started in the same way.
    """
    if learn:
        require_training()
    split = at_random(load_sessions(data, say), plan.seed)
    prior = load_drawings(sops)
    picked = sorted(random.Random(plan.seed).sample(range(len(split.test)), min(n_test, len(split.test))))
    test = [turn_views(split.test[i]) for i in picked]
    train = [turn_views(session) for session in split.train]
    task = bar.add_task("subsets")

    def advance(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    with tempfile.TemporaryDirectory() as folder:
        learner = None
        if learn:
            shop = workshop(prior, _MODEL_PLAN, plan.seed, None)
            test = with_embeddings(test, shop.embedder, shop.cache)

            def learner(picks: Sequence[int]) -> LearnedPredictor:
                path = Path(folder) / f"{len(picks)}.onnx"
                path.unlink(missing_ok=True)
                train_file([split.train[i] for i in picks], path, shop)
                return LearnedPredictor(path, prior)

        given = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (data, sops) if path is not None]
        setup = [given, plan.sizes, plan.n_subsets, plan.seed, n_test, learn, version("cuecard")]
        kept = Kept((plot or Path("curve.png")).with_suffix(".partial.jsonl"), setup)
        if len(kept):
            say(f"{len(kept)} subsets were finished by a run that was cut off; going on with the rest.")
        result = curve(train, test, prior, plan, learner, advance, kept)
    kept.finish()
    if plot is not None:
        draw(result, plot)
        result["plot"] = str(plot)
    return result
