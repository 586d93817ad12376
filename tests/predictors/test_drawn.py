import pytest

from cuecard.predictors.drawn import AnyPrior, DrawnGraph, DrawnPrior
from cuecard.predictors.types import SessionView, TurnView

CHART = DrawnGraph(
    "table",
    {
        "hello": "Hello, how can I help?",
        "ask_name": "Your name, please?",
        "ask_time": "At what time?",
        "inform_free": "There is a table. Shall I book it?",
        "inform_full": "Sorry, we are full.",
        "inform_booked": "It is booked.",
        "anything_else": "Anything else?",
        "goodbye_1": "Goodbye.",
        "yes": "Yes",
        "no": "No",
        "available": "Available",
        "unavailable": "Unavailable",
        "query_check": "Query Check",
        "query_book": "Query Book",
    },
    {
        "hello": "ask_name",
        "ask_name": "ask_time",
        "ask_time": "query_check",
        "available": "inform_free",
        "unavailable": "inform_full",
        "yes": "query_book",
        "no": "ask_time",
        "query_book": "inform_booked",
        "inform_booked": "anything_else",
    },
)


def after(*actions: str) -> list[dict[str, float]]:
    turns = tuple(TurnView("", "", action) for action in actions)
    return list(DrawnPrior(CHART).expect(SessionView("table", turns), 3).actions)


def best(p: dict[str, float]) -> str:
    return max(p, key=lambda name: p[name])


def test_conditions_are_no_acts() -> None:
    assert set(CHART.branches) == {"yes", "no", "available", "unavailable"}
    assert "query_check" in CHART.acts
    assert not set(CHART.branches) & set(CHART.acts)


def test_the_arrow_leads_and_the_next_ones_follow_at_the_next_offsets() -> None:
    first, second, _ = after("hello")
    assert best(first) == "ask_name"
    # Some callers give everything at once, so the query may be as near as the step after next.
    assert set(sorted(second, key=lambda name: -second[name])[:2]) == {"ask_time", "query_check:table"}


def test_a_query_names_its_source_and_the_turn_after_it_starts_from_its_results() -> None:
    first, second, _ = after("ask_time")
    assert best(first) == "query_check:table"
    assert best({name: p for name, p in second.items() if not name.startswith("query_check")}) == "query_book:table"


def test_where_no_arrow_is_drawn_the_callers_answer_decides() -> None:
    first = after("inform_free")[0]
    assert {"query_book:table", "ask_time"} <= set(sorted(first, key=lambda name: -first[name])[:3])


def test_words_without_a_label_leave_the_place_in_the_chart() -> None:
    assert after("ask_name", "freeform") == after("ask_name")


def test_what_was_said_before_is_less_likely_to_come_again() -> None:
    assert after("ask_name", "hello")[0]["ask_name"] < after("hello")[0]["ask_name"]


def test_every_distribution_adds_up_and_leaves_room_for_what_is_not_drawn() -> None:
    for action in ("hello", "inform_free", "goodbye_1", "never_drawn"):
        for p in after(action):
            assert sum(p.values()) == pytest.approx(1.0)
            assert min(p.values()) > 0.0


def test_before_a_procedure_is_open_all_charts_speak() -> None:
    other = DrawnGraph("taxi", {"hello": "Hi.", "ask_where": "Where?", "bye": "Bye."}, {"hello": "ask_where"})
    told = AnyPrior([DrawnPrior(CHART), DrawnPrior(other)]).expect(SessionView("", (TurnView("", "", "hello"),)), 2)
    assert {"ask_name", "ask_where"} <= set(told.actions[0])
    assert sum(told.actions[1].values()) == pytest.approx(1.0)
