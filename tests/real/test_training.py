import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cuecard.errors import CuecardError
from cuecard.models.embeddings import DIM, Matrix
from cuecard.predictors.features import marks
from cuecard.predictors.graph import Expected
from cuecard.predictors.learned import LearnedPredictor, ModelFileError
from cuecard.predictors.training import extra
from cuecard.predictors.training.fit import Plan
from cuecard.predictors.training.net import Size
from cuecard.predictors.types import SessionView
from evals.real.sessions import DataError, Session
from evals.real.training import Workshop, fingerprints, train_file
from evals.real.views import turn_views, view_at
from tests.real.calls import balance_call


class Hashed:
    """A vector per word, added up: enough to tell sentences apart."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        out = np.zeros((len(texts), DIM), np.float32)
        for row, text in enumerate(texts):
            for word in text.split() or [""]:
                out[row, sum(map(ord, word)) % DIM] += 1.0
        unit: Matrix = out / np.linalg.norm(out, axis=1, keepdims=True)
        return unit


def test_training_without_its_extra_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extra, "find_spec", lambda name: None)
    with pytest.raises(CuecardError, match=r"scipy: pip install 'cuecard\[train\]'"):
        extra.require_training()


def calls(*numbers: int) -> list[Session]:
    return [Session.model_validate(balance_call(number)) for number in numbers]


def shop(n_epochs: int = 15, seed: int = 0) -> Workshop:
    plan = Plan(n_members=2, n_epochs=n_epochs, fewest_steps=0, batch=32, n_axes=8, size=Size(24, 16))
    return Workshop(Hashed(), None, lambda _: None, plan, seed)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.onnx"
    outcome = train_file(calls(*range(1, 121)), path, shop(n_epochs=80))
    assert outcome.took_over
    assert outcome.n_sessions == 120
    return path


async def test_a_model_file_tells_what_comes_next_from_words_and_results(model: Path) -> None:
    learned = LearnedPredictor(model)
    fraud, balance = (turn_views(call) for call in calls(201 * 3, 301))
    after_fraud = await learned.predict(view_at(fraud, 0))
    after_balance = await learned.predict(view_at(balance, 0))
    assert after_fraud.actions[0]["ask_fraud"] > 0.7
    assert after_balance.actions[0]["ask_pin"] > 0.7
    assert after_balance.sources[1]["bank"] > 0.7
    assert sum(after_balance.actions[2].values()) == pytest.approx(1.0, abs=1e-4)


async def test_a_model_is_silent_about_procedures_it_never_saw_and_before_the_first_turn(model: Path) -> None:
    learned = LearnedPredictor(model)
    turns = turn_views(calls(1)[0])
    assert (await learned.predict(SessionView("bank"))).actions == ()
    assert (await learned.predict(SessionView("elsewhere", turns[:1]))).actions == ()


def test_a_model_remembers_which_sessions_it_has_seen_without_their_names(model: Path) -> None:
    card = LearnedPredictor(model).card
    assert fingerprints(calls(7)) <= card.sessions
    assert not fingerprints(calls(500)) & card.sessions
    assert b"s117" not in model.read_bytes()


def test_a_worse_candidate_never_takes_over(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model.read_bytes())
    before = path.read_bytes()
    outcome = train_file(calls(*range(300, 360)), path, shop(n_epochs=1, seed=1))
    assert not outcome.took_over
    assert outcome.old_log_loss is not None
    assert outcome.new_log_loss is not None
    assert outcome.new_log_loss >= outcome.old_log_loss
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_better_candidate_takes_over(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    train_file(calls(*range(1, 61)), path, shop(n_epochs=1))
    poor = path.read_bytes()
    outcome = train_file(calls(*range(1, 161)), path, shop())
    assert outcome.took_over
    assert path.read_bytes() != poor


def test_the_same_seed_trains_the_same_model(tmp_path: Path) -> None:
    for name in ("a", "b"):
        train_file(calls(*range(1, 61)), tmp_path / name, shop(n_epochs=2))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_too_few_sessions_and_files_that_are_no_models_are_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="too few"):
        train_file(calls(1, 2), tmp_path / "m.onnx", shop())
    (tmp_path / "junk.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelFileError, match="not a model"):
        LearnedPredictor(tmp_path / "junk.onnx")
    with pytest.raises(ModelFileError, match="no such file"):
        LearnedPredictor(tmp_path / "none.onnx")


def test_a_forecast_takes_well_under_a_millisecond(model: Path) -> None:
    learned = LearnedPredictor(model)
    view = view_at(turn_views(calls(1)[0]), 3)

    async def fastest() -> float:
        return min([(await learned.predict(view)).ms for _ in range(50)])

    assert asyncio.run(fastest()) < 1.0


def test_a_drawings_likeliest_steps_are_marks_with_and_without_their_rank() -> None:
    turns = turn_views(calls(1)[0])
    expected = Expected(actions=({"ask_pin": 0.6, "bye": 0.3, "rare": 0.04},))
    drawn = [mark for mark in marks(view_at(turns, 0), expected) if mark.startswith("drawn")]
    assert drawn == ["drawn +1 0 ask_pin", "drawn +1 ask_pin", "drawn +1 1 bye", "drawn +1 bye"]
    assert not [mark for mark in marks(view_at(turns, 0)) if mark.startswith("drawn")]


class Says:
    """A drawing that expects one step and nothing else."""

    def expect(self, view: SessionView, horizon: int) -> Expected:
        return Expected(actions=({"ask_pin": 1.0},) * horizon)


def test_a_model_listens_to_the_drawing_it_stands_beside(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    train_file(calls(*range(1, 61)), path, replace(shop(n_epochs=5), prior=lambda _: Says()))
    assert "drawn +1 ask_pin" in LearnedPredictor(path).card.marks
    view = view_at(turn_views(calls(301)[0]), 0)
    alone = LearnedPredictor(path)
    beside = alone.beside(lambda _: Says())
    assert asyncio.run(alone.predict(view)).actions != asyncio.run(beside.predict(view)).actions
