from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from cuecard.predictors.features import marks
from cuecard.predictors.learned import LearnedPredictor
from evals.real import bench_predict
from evals.real.bench import PREDICTORS
from evals.real.bench_predict import run_bench
from evals.real.bench_table import table
from evals.real.curve import CurvePlan, curve
from evals.real.curve_plot import draw
from evals.real.sessions import DataError, Session
from evals.real.states import bench_states, parts, state_turns
from evals.real.training import train_file
from evals.real.views import turn_views, view_at
from tests.real.calls import balance_call
from tests.real.test_training import calls, shop


def written(path: Path, numbers: Sequence[int]) -> Path:
    path.write_bytes(b"\n".join(orjson.dumps(balance_call(number)) for number in numbers))
    return path


def bench(train: Path, **more: Any) -> dict[str, Any]:
    wanted: dict[str, Any] = {"test": None, "sops": None, "model": None, "split": "random", "seed": 0, **more}
    return run_bench(train, bar=None, say=lambda _: None, **wanted)


def test_every_predictor_has_its_figures_at_every_offset(tmp_path: Path) -> None:
    result = bench(written(tmp_path / "calls.jsonl", range(1, 61)))
    for offset in ("+1", "+2", "+3"):
        assert tuple(result[offset]) == PREDICTORS
        assert {"top1", "top3", "log_loss", "ece", "n", "source_hit1"} <= set(result[offset]["mixture"])
    assert result["n_test"] == 12
    assert result["+1"]["mixture"]["top3"] > 90
    assert result["+1"]["learned"]["top1"] is None
    assert set(result["mixture_minus_shrinkage"]["+1"]["top1"]) == {"difference", "low", "high"}
    assert result["by_time"]["+1"]["bigram"]["n"] > 0
    assert result["source_hit1"]["shrinkage"] == 100.0
    assert orjson.loads(orjson.dumps(result, option=orjson.OPT_SERIALIZE_NUMPY)) == result
    assert table(result).row_count == len(PREDICTORS) + 2


def test_a_test_file_is_the_only_thing_tested_on(tmp_path: Path) -> None:
    train = written(tmp_path / "train.jsonl", range(1, 41))
    result = bench(train, test=written(tmp_path / "test.jsonl", range(41, 51)))
    assert (result["n_train"], result["n_test"]) == (40, 10)
    assert "by_time" not in result


def test_a_model_is_never_scored_on_calls_it_has_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_predict, "_shop", lambda *_: shop(n_epochs=2))
    data = written(tmp_path / "calls.jsonl", range(1, 81))
    model = tmp_path / "m.onnx"
    train_file(calls(*range(1, 81)), model, shop(n_epochs=1))
    with pytest.raises(DataError, match="has not seen"):
        bench(data, test=written(tmp_path / "seen.jsonl", range(70, 90)), model=model)
    trained: list[int] = []
    real = train_file

    def spy(sessions: Sequence[Session], out: Path, workshop: Any) -> Any:
        trained.append(len(sessions))
        return real(sessions, out, workshop)

    monkeypatch.setattr(bench_predict, "train_file", spy)
    result = bench(data, model=model)
    assert trained == [64]
    assert result["+1"]["learned"]["n"] == result["+1"]["mixture"]["n"] > 0
    assert result["by_time"]["+1"]["learned"]["n"] == 0


def test_marks_do_not_change_with_what_comes_later() -> None:
    short, long = (turn_views(Session.model_validate(balance_call(number))) for number in (1, 7))
    for index in range(2):
        assert marks(view_at(short, index)) == marks(view_at(long, index))
    assert marks(view_at(short, 2)) != marks(view_at(turn_views(Session.model_validate(balance_call(2))), 2))


def test_the_curve_starts_with_nothing_and_ends_with_everything(tmp_path: Path) -> None:
    train = [turn_views(session) for session in calls(*range(1, 61))]
    test = [turn_views(session) for session in calls(*range(61, 76))]
    steps: list[int] = []
    plan = CurvePlan(sizes=(0, 5, 20), n_subsets=2)
    result = curve(train, test, lambda _: None, plan, None, lambda done, total: steps.append(total - done))
    assert [key for key in result if key.isdigit()] == ["0", "5", "20", "60"]
    assert result["0"]["mixture"]["top3"] == 0.0
    assert result["60"]["mixture"]["top3"] > 90.0
    assert result["20"]["mixture"]["n_subsets"] == 2
    assert steps[-1] == 0
    draw(result, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 10_000


def states(number: int, split: str, *names: str) -> Session:
    turns = [{"speaker": "user", "text": name, "state": [name], "slots": ["name"]} for name in names]
    return Session.model_validate({"session_id": f"{split}{number}", "sop": ["air"], "split": split, "turns": turns})


def test_states_are_predicted_on_the_sets_own_split() -> None:
    sessions = [states(n, "train", "opens", "books", "confirms", "thanks") for n in range(20)]
    sessions += [states(n, "dev", "opens", "books", "books", "thanks") for n in range(5)]
    split = parts(sessions, None)
    result = bench_states(split, None)
    assert result["split"] == "train against dev"
    assert (result["counts"]["n"], result["counts"]["n_transitions"]) == (15, 10)
    assert result["inertia"]["stable"] == 100.0
    assert result["counts"]["transition"] == pytest.approx(50.0)
    assert state_turns(sessions[0])[0].fetched == ("in air.name",)
    with pytest.raises(DataError, match="no split"):
        parts([sessions[0]], None)


def test_a_model_file_says_how_much_it_is_to_be_believed(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    train_file(calls(*range(1, 61)), path, shop(n_epochs=2))
    card = LearnedPredictor(path).card
    assert set(card.shares) == set(card.powers) == {"action", "source"}
    assert all(0.0 <= share <= 1.0 for rows in card.shares.values() for row in rows for share in row)
