from cuecard.events import (
    Believed,
    Decided,
    Degraded,
    Event,
    Forecasted,
    Heard,
    NeedResolved,
    SessionEnded,
    SessionStarted,
    Spoke,
    Wrote,
    from_json,
)
from cuecard.ledger import Ledger, ledger_of, percentile, waited_s
from cuecard.prefetch.events import FetchStarted

STARTED = SessionStarted(session_id="s1", tenant="t", procedure="insurance_renewal", version=1, prefetch="value")


def _fetch(dep: str, turn: int, *, key: str = "{}", origin: str = "forecast", background: bool = True) -> Event:
    return FetchStarted(dep=dep, key=key, origin=origin, background=background, turn=turn, at_s=float(turn))


def _need(dep: str, turn: int, how: str, *, stall_s: float = 0.0, at_s: float = 0.0, **more: object) -> Event:
    values = {"key": "{}", "fetched_as": "{}", "reason": "because"} | more
    return NeedResolved(dep=dep, how=how, stall_s=stall_s, at_s=at_s or float(turn), turn=turn, **values)  # type: ignore[arg-type]


def _turn(turn: int, *needs: Event) -> list[Event]:
    return [
        Heard(text=f"words {turn}", final=True, turn=turn, at_s=float(turn)),
        Decided(action="review", tier="rules", reason="next", state="agrees", p_state=0.9, turn=turn, at_s=float(turn)),
        *needs,
        Spoke(text="reply", action="review", turn=turn, at_s=float(turn)),
    ]


def _book(*events: Event) -> Ledger:
    return ledger_of([STARTED, *events])


def test_needs_met_side_by_side_are_waited_for_once() -> None:
    both = [_need("a", 1, "live", stall_s=2.0, at_s=12.0), _need("b", 1, "live", stall_s=3.0, at_s=13.0)]
    after = _need("c", 1, "write", stall_s=1.5, at_s=14.5)
    book = _book(*_turn(1, *both, after))
    assert book.turns[0].stall_s == 4.5
    assert book.stall_s == 4.5


def test_a_fetch_that_no_turn_used_is_wasted_and_a_refetch_counts_again() -> None:
    book = _book(_fetch("a", 1), _fetch("a", 2), _fetch("b", 2), *_turn(3, _need("a", 3, "ready")))
    assert (book.fetches, book.used, book.wasted) == (3, 1, 2)


def test_a_fetch_used_in_several_turns_is_used_once() -> None:
    book = _book(_fetch("a", 1), *_turn(2, _need("a", 2, "ready")), *_turn(3, _need("a", 3, "ready")))
    assert (book.fetches, book.wasted) == (1, 0)


def test_a_passage_fetched_for_another_question_makes_that_fetch_useful() -> None:
    fetched = _fetch("guide", 1, key='{"?":"windscreen"}')
    used = _need("guide", 2, "ready", key='{"?":"does it cover glass"}', fetched_as='{"?":"windscreen"}')
    assert _book(fetched, *_turn(2, used)).wasted == 0


def test_a_fetch_that_a_waiting_caller_joined_is_used_but_no_hit() -> None:
    book = _book(_fetch("a", 1), *_turn(2, _need("a", 2, "joined", stall_s=0.4, asked_by="forecast", lead_turns=1)))
    assert book.wasted == 0
    assert book.hit_at(1) == (0, 1)


def test_live_fetches_are_counted_apart() -> None:
    book = _book(_fetch("a", 1, origin="live", background=False), *_turn(1, _need("a", 1, "live", stall_s=1.0)))
    assert (book.fetches, book.live, book.wasted) == (0, 1, 0)


def test_a_hit_at_two_needs_a_forecast_two_turns_old() -> None:
    needs = [
        _need("a", 5, "ready", asked_by="forecast", lead_turns=2),
        _need("b", 5, "ready", asked_by="forecast", lead_turns=1),
        _need("c", 5, "ready", asked_by="partial", lead_turns=4),
        _need("d", 5, "live", stall_s=1.0),
        _need("w", 5, "write", stall_s=1.0),
    ]
    book = _book(*_turn(5, *needs))
    assert book.hit_at(1) == (2, 4)
    assert book.hit_at(2) == (1, 4)


def test_the_books_hold_belief_tiers_writes_tokens_and_what_was_done_without() -> None:
    book = _book(
        *_turn(1),
        Believed(
            cohort="loyal", p_cohort=0.5, mood="calm", p_mood=0.5, state="agrees", p_state=0.9, p_change=0.1, turn=1
        ),
        Forecasted(by="counts", actions=[], utterances=[], tokens=120, turn=1),
        *_turn(2),
        Wrote(dep="renewal", idempotency_key="k", ok=True, turn=2),
        Degraded(part="chat", reason="timed out", turn=2),
        SessionEnded(outcome="success", reason="closed", turn=2),
    )
    assert (book.turns[0].cohort, book.turns[0].mood) == ("loyal", "calm")
    assert book.tiers == {"rules": 1.0}
    assert book.to_json() | {"tier_share": {}} == {
        "sop": "insurance_renewal",
        "session_id": "s1",
        "turns": 2,
        "outcome": "success",
        "stall_s": 0.0,
        "needs": {},
        "fetches": 0,
        "live": 0,
        "wasted": 0,
        "tier_share": {},
        "writes": [{"dep": "renewal", "ok": True}],
        "degraded": [{"part": "chat", "reason": "timed out"}],
        "tokens": 120,
    }


def test_the_books_are_the_same_from_a_log_read_back() -> None:
    events = [STARTED, _fetch("a", 1), *_turn(2, _need("a", 2, "ready", asked_by="forecast", lead_turns=1))]
    again = ledger_of([from_json(event.to_json()) for event in events])
    assert again == ledger_of(events)


def test_a_reason_is_given_for_waiting_and_for_not_waiting() -> None:
    waited = _book(*_turn(1, _need("a", 1, "live", stall_s=1.0, reason="no forecast")))
    assert waited.turns[0].why == "a 1.0 s (live): no forecast"
    assert _book(*_turn(1)).turns[0].why == "nothing was needed"
    assert "ready" in _book(*_turn(1, _need("a", 1, "ready"))).turns[0].why


def test_a_reply_cut_short_by_the_caller_is_no_second_reply() -> None:
    cut = Spoke(text="a long reply", action="review", heard="a long", turn=1, at_s=3.0)
    assert _book(*_turn(1), cut).turns[0].said == "reply"


def test_overlapping_waits_count_once_and_rounding_counts_nothing() -> None:
    assert waited_s([(0.0, 2.0), (1.0, 3.0), (5.0, 6.0)]) == 4.0
    assert waited_s([(0.0, 0.0001)]) == 0.0
    assert waited_s([]) == 0.0


def test_percentiles_are_values_that_occurred() -> None:
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([1.0, 9.0], 95) == 9.0
    assert percentile([], 50) == 0.0
