from cuecard.predictors.features import marks
from cuecard.predictors.types import SessionView, TurnView


def turn(action: str, sop: str = "", first: str = "") -> TurnView:
    return TurnView("", "", action, first=first, sop=sop)


WANDERING = (
    turn("hello"),
    turn("ask_step", "trip"),
    turn("trip_step", "trip", first="query:trip"),
    turn("ask_pin", "bank"),
    turn("next_step", "trip"),
)


def found(*turns: TurnView) -> set[str]:
    return set(marks(SessionView(turns[-1].sop, turns)))


def test_marks_tell_where_a_call_came_from_and_where_other_procedures_were_left() -> None:
    told = found(*WANDERING)
    assert {"before bank", "before bank last next_step", "left ask_pin", "left 0 bank", "procedures 3"} <= told
    assert {"left hello", "left 1 "} <= told
    assert "left next_step" not in told


def test_marks_tell_where_the_call_stood_in_the_procedure_it_comes_back_to() -> None:
    told = found(*WANDERING)
    assert {"within 3", "here -1 last trip_step", "here -1 first query:trip", "here -2 last ask_step"} <= told


def test_a_call_of_one_procedure_comes_from_nowhere() -> None:
    told = found(turn("hello"), turn("ask"))
    assert not [mark for mark in told if mark.startswith(("before", "left"))]
    assert "procedures 1" in told


def test_marks_look_back_five_turns() -> None:
    told = found(*(turn(name) for name in "abcdef"))
    assert {"-3 last c", "-4 last b"} <= told
    assert not [mark for mark in told if mark.endswith(("-3 last b", "-5 last a"))]
