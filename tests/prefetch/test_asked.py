import numpy as np

from cuecard.prefetch.asked import KEPT, NEAR, Asked, nearest_item
from cuecard.prefetch.types import Item, Vector


def _at(degrees: float) -> Vector:
    angle = np.radians(degrees)
    return np.array([np.cos(angle), np.sin(angle)], np.float32)


def test_a_question_near_in_meaning_is_found_nearest_first() -> None:
    asked = Asked()
    asked.note("guide", "half", _at(30))
    asked.note("guide", "most", _at(10))
    asked.note("guide", "other", _at(90))
    assert [one.args for one in asked.near("guide", _at(0))] == ["most", "half"]
    assert all(one.cosine >= NEAR for one in asked.near("guide", _at(0)))


def test_questions_to_one_source_say_nothing_about_another() -> None:
    asked = Asked()
    asked.note("guide", "same", _at(0))
    assert asked.near("comfort", _at(0)) == []


def test_only_the_newest_questions_are_remembered_and_asking_again_makes_new() -> None:
    asked = Asked()
    for n in range(KEPT):
        asked.note("guide", str(n), _at(0))
    asked.note("guide", "0", _at(0))
    asked.note("guide", "one more", _at(0))
    kept = {one.args for one in asked.near("guide", _at(0))}
    assert len(asked) == KEPT
    assert {"0", "one more"} <= kept
    assert "1" not in kept


def test_the_passage_nearest_to_the_live_words_is_chosen() -> None:
    items = [
        Item("far", "guide", "", vector=_at(80)),
        Item("near", "guide", "", vector=_at(5)),
        Item("bare", "guide", ""),
    ]
    best = nearest_item(items, _at(0))
    assert best is not None
    assert best.id == "near"
    assert nearest_item([], _at(0)) is None
    only = nearest_item(items[2:], _at(0))
    assert only is not None
    assert only.id == "bare"
