import math

from evals.calls.intervals import bootstrap_ratio, mean_interval, wilson
from evals.calls.measures import Row, hidden, hidden_interval, hit_at, summary


def _row(seed: int, policy: str, stall_s: float, **changes: object) -> Row:
    values: dict[str, object] = {
        "sop": "x", "seed": seed, "policy": policy, "caller": "agenda", "cohort": "c", "mood": "m", "goal": "g",
        "outcome": "success", "capped": False, "turns": 8, "stall_s": stall_s, "turn_stall_s": [0.0, stall_s],
        "fetches": 6, "live": 1, "wasted": 2, "needs": {"ready": 1}, "hits": [2, 0], "tiers": {"rules": 1.0},
        "diverged": 0, "overhead_ms": [4.0, 6.0],
    }  # fmt: skip
    return Row(**(values | changes))  # type: ignore[arg-type]


def _call(seed: int, none: float, ours: float, oracle: float, **changes: object) -> list[Row]:
    return [_row(seed, "none", none), _row(seed, "ours", ours, **changes), _row(seed, "oracle", oracle)]


def test_hidden_is_summed_over_calls_before_it_is_divided() -> None:
    rows = _call(0, 10.0, 4.0, 2.0) + _call(1, 2.0, 2.0, 0.0)
    assert hidden(rows) == (6.0, 10.0, 4.0)
    assert hidden(rows).pct == 60


def test_nothing_to_hide_is_no_percentage() -> None:
    assert hidden(_call(0, 3.0, 3.0, 3.0)).pct is None


def test_the_summary_counts_caps_apart_and_carries_n_and_intervals() -> None:
    rows = _call(0, 10.0, 4.0, 2.0) + _call(1, 10.0, 4.0, 2.0, outcome="turn_cap", capped=True)
    figures = summary(rows)
    assert (figures["success_rate"], figures["turn_cap_rate"], figures["n"]) == (0.5, 0.5, 2)
    assert (figures["hidden_pct"], figures["stall_s_mean"], figures["turns_mean"]) == (75, 4.0, 8.0)
    assert figures["tier_share"] == {"rules": 1.0}
    assert figures["ci95"]["success_rate"] == [0.095, 0.905]
    assert (figures["caller"], figures["data"]) == ("agenda", "simulated")


def test_a_hit_at_k_is_out_of_all_needs() -> None:
    assert hit_at([_row(0, "ours", 0.0, hits=[3, 1, 0, 2])], 2)["rate"] == 0.5


def test_wilson_stays_inside_and_is_wide_where_little_was_seen() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(20, 20) == (0.839, 1.0)
    assert wilson(0, 20).low == 0.0
    assert wilson(10, 20).high - wilson(10, 20).low > wilson(100, 200).high - wilson(100, 200).low


def test_resampling_gives_the_same_interval_for_the_same_data() -> None:
    pairs = [(float(n), 10.0) for n in range(10)]
    once = bootstrap_ratio(pairs)
    assert once == bootstrap_ratio(pairs)
    assert once.low < 0.45 < once.high
    assert math.isnan(bootstrap_ratio([]).low)
    assert mean_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)


def test_the_interval_of_hidden_holds_its_value() -> None:
    rows = [row for seed in range(12) for row in _call(seed, 10.0, 2.0 + seed % 4, 1.0)]
    low, high = hidden_interval(rows)
    pct = hidden(rows).pct
    assert pct is not None
    assert low < pct < high
