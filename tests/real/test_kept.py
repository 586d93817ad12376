"""A long run that was cut off goes on where it stopped."""

from pathlib import Path

import pytest

from evals.real.curve import CurvePlan, curve
from evals.real.kept import Kept
from evals.real.sessions import Session
from evals.real.views import turn_views
from tests.real.calls import balance_call


def test_parts_of_another_setup_and_half_a_line_are_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    Kept(path, {"seed": 0}).add("a", {"top1": 1.0})
    with path.open("ab") as file:
        file.write(b'{"setup": "x", "na')
    assert Kept(path, {"seed": 0}).get("a") == {"top1": 1.0}
    assert Kept(path, {"seed": 1}).get("a") is None
    Kept(path, {"seed": 0}).finish()
    assert not path.exists()


class CutOffError(Exception):
    pass


def test_a_curve_that_was_cut_off_gives_the_same_figures_as_one_that_was_not(tmp_path: Path) -> None:
    train, test = (
        [turn_views(Session.model_validate(balance_call(n))) for n in r] for r in (range(1, 31), range(31, 41))
    )
    plan = CurvePlan(sizes=(0, 5), n_subsets=2)

    def cut_off(done: int, total: int) -> None:
        if done == 2:
            raise CutOffError

    whole = curve(train, test, lambda _: None, plan, None, lambda done, total: None)
    kept = Kept(tmp_path / "p.jsonl", {})
    with pytest.raises(CutOffError):
        curve(train, test, lambda _: None, plan, None, cut_off, kept)
    again = Kept(tmp_path / "p.jsonl", {})
    assert len(again) == 2
    assert curve(train, test, lambda _: None, plan, None, lambda done, total: None, again) == whole
