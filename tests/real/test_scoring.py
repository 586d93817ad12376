import numpy as np
import pytest

from cuecard.predictors.types import Forecast, TurnView
from evals.real.scoring import Hit, Tally, bootstrap, measures
from evals.real.states import auc, measures_of_change


def tally(*rows: tuple[dict[str, float], str]) -> Tally:
    out = Tally()
    for number, (p, truth) in enumerate(rows):
        out.add(number, Forecast(actions=(p,)), 1, TurnView("", "", truth))
    return out


def test_the_likeliest_label_and_the_first_three_are_counted_apart() -> None:
    p = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}
    found = measures(tally((p, "a"), (p, "c"), (p, "d"), ({}, "a")))
    assert found["top1"] == 25.0
    assert found["top3"] == 50.0
    assert found["n"] == 4


def test_ties_do_not_hang_on_the_order_of_names_in_a_forecast() -> None:
    one = measures(tally(({"a": 0.5, "b": 0.5}, "b")))
    other = measures(tally(({"b": 0.5, "a": 0.5}, "b")))
    assert one == other
    assert one["top1"] == 0.0


def test_log_loss_of_a_label_without_probability_is_high_and_finite() -> None:
    assert measures(tally(({"a": 1.0}, "b")))["log_loss"] == pytest.approx(-np.log(1e-4), abs=1e-3)


def test_sure_and_wrong_is_badly_calibrated_and_honest_doubt_is_not() -> None:
    assert measures(tally(*[({"a": 1.0}, "b")] * 10))["ece"] == pytest.approx(1.0)
    doubtful = [({"a": 0.55, "b": 0.45}, "a")] * 11 + [({"a": 0.55, "b": 0.45}, "b")] * 9
    assert measures(tally(*doubtful))["ece"] == pytest.approx(0.0, abs=1e-6)


def test_turns_without_a_label_or_a_query_are_not_judged() -> None:
    found = Tally()
    found.add(0, Forecast(actions=({"a": 1.0},), sources=({"": 1.0},)), 1, TurnView("", "", "freeform"))
    assert measures(found)["n"] == 0
    assert measures(found)["n_source"] == 0
    assert measures(found)["top1"] is None


def test_a_source_is_judged_among_sources_alone() -> None:
    found = Tally()
    forecast = Forecast(actions=({"q": 1.0},), sources=({"": 0.9, "bank": 0.1},))
    found.add(0, forecast, 1, TurnView("", "", "q", source="bank"))
    assert measures(found)["source_hit1"] == 100.0


def test_the_bootstrap_interval_holds_the_difference_and_widens_when_calls_differ() -> None:
    better = [Hit(call, 1, 1.0, 1.0) for call in range(20) for _ in range(5)]
    worse = [Hit(call, 1 if call % 2 else 2, 1.0, 1.0) for call in range(20) for _ in range(5)]
    gain = bootstrap(better, worse, 1)
    assert gain.difference == 50.0
    assert gain.low < 50.0 < gain.high
    assert bootstrap(better, better, 1) == (0.0, 0.0, 0.0)


def test_auc_is_one_for_a_perfect_order_and_half_for_none() -> None:
    truth = np.array([False, False, True, True])
    assert auc(np.array([0.1, 0.2, 0.8, 0.9]), truth) == 1.0
    assert auc(np.array([0.5, 0.5, 0.5, 0.5]), truth) == 0.5
    assert auc(np.array([0.5]), np.array([True])) is None


def test_inertia_has_every_stable_turn_and_no_transition() -> None:
    change = np.array([True, True, False, False])
    found = measures_of_change(~change, ~change, change, np.zeros(4))
    assert (found["stable"], found["transition"], found["transition_recall"]) == (100.0, 0.0, 0.0)
