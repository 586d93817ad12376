import pytest

from cuecard.predictors.counts import CountKey, MemoryCounts, call_increments, contexts, situation
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.shrinkage import shrink
from cuecard.predictors.types import SessionView, TurnView


def turn(action: str, first: str = "", sop: str = "") -> TurnView:
    return TurnView("", "", action, first=first, sop=sop)


def levels(*turns: TurnView) -> dict[str, tuple[str, ...]]:
    return contexts(situation(SessionView("s", turns)))


def test_a_call_of_one_act_a_turn_and_one_procedure_has_no_more_contexts_than_its_turns() -> None:
    assert list(levels(turn("a"), turn("b"), turn("c"))) == ["sop", "last", "last2", "last3"]


def test_a_query_before_a_sentence_is_an_act_of_its_own() -> None:
    found = levels(turn("ask"), turn("tell", first="query:bank"))
    assert found["last2"] == ("last2", "tell", "ask")
    assert found["act2"] == ("act2", "tell", "query:bank")
    assert found["act3"] == ("act3", "tell", "query:bank", "ask")
    assert "act" not in found


def test_typed_words_are_looked_through() -> None:
    found = levels(turn("ask"), turn("freeform"))
    assert found["last"] == ("last", "freeform")
    assert found["act"] == ("act", "ask")
    assert "act2" not in found
    assert not {"act", "act2", "act3"} & set(levels(turn("freeform")))


def test_the_procedure_before_is_known_in_calls_that_name_their_procedures() -> None:
    wandering = (turn("hello"), turn("ask", sop="bank"), turn("tell", sop="bank"), turn("ask", sop="trip"))
    assert levels(*wandering)["before"] == ("before", "ask", "bank")
    assert levels(*wandering[:3])["before"] == ("before", "tell", "-")
    assert "before" not in levels(wandering[0])


async def test_people_who_came_from_another_procedure_are_heard_beside_the_rest() -> None:
    counts = MemoryCounts(None)
    from_bank = (turn("hi", sop="bank"), turn("ask", sop="trip"), turn("bank_again", sop="bank"))
    from_taxi = (turn("hi", sop="taxi"), turn("ask", sop="trip"), turn("taxi_again", sop="taxi"))
    for call in (from_bank, from_taxi) * 20:
        for increment in call_increments("", call):
            counts.add(increment)
    predictor = EmpiricalPredictor(counts, lambda _: None)
    first, second = [
        (await predictor.predict(SessionView("trip", call[:2]))).actions[0] for call in (from_bank, from_taxi)
    ]
    assert first["bank_again"] > 0.7
    assert second["taxi_again"] > 0.7


async def test_a_forecast_after_typed_words_knows_the_act_before_them() -> None:
    counts = MemoryCounts(None)
    calls = [(turn(last), turn("freeform"), turn(after)) for last, after in (("a", "x"), ("b", "y"))]
    # Seen often enough with and without typed words between, as people's calls are.
    for call in calls * 10:
        for increment in call_increments("", tuple(one._replace(sop="s") for one in call)):
            counts.add(increment)
    view = SessionView("s", tuple(one._replace(sop="s") for one in calls[0][:2]))
    forecast = await EmpiricalPredictor(counts, lambda _: None).predict(view)
    assert forecast.actions[0]["x"] > 0.8


def test_where_turns_and_acts_say_the_same_one_chain_speaks() -> None:
    rows = {"sop": {"x": 1.0, "y": 1.0}, "last": {"x": 4.0}, "last2": {"y": 2.0}}
    assert shrink({**rows, "act2": rows["last2"]}) == pytest.approx(shrink(rows))


def test_reading_and_counting_take_the_same_keys() -> None:
    call = (
        turn("hello"),
        turn("ask", sop="bank"),
        turn("tell", first="query:bank", sop="bank"),
        turn("freeform", sop="trip"),
        turn("bye", sop="trip"),
    )
    counted = {increment.key for increment in call_increments("", call)}
    for end in range(1, len(call)):
        for context in levels(*call[:end]).values():
            assert CountKey(call[end - 1].sop, "source", 1, context) in counted
