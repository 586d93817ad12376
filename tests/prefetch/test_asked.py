import numpy as np

from cuecard.prefetch.asked import KEPT, NEAR, SAME_BREATH, Asked, nearest_item
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


def test_the_beginning_of_an_utterance_need_not_come_as_near_as_another_question() -> None:
    between = np.degrees(np.arccos((NEAR + SAME_BREATH) / 2))
    asked = Asked()
    asked.note("guide", "guessed", _at(between))
    asked.note("guide", "begun", _at(-between), breath=4)
    assert [one.args for one in asked.near("guide", _at(0), breath=4)] == ["begun"]
    assert asked.near("guide", _at(0), breath=5) == []


def test_words_are_sent_again_in_one_breath_only_when_their_meaning_has_moved() -> None:
    asked = Asked()
    assert not asked.voiced("guide", _at(0), 3)
    assert asked.voiced("guide", _at(20), 3)
    assert not asked.voiced("guide", _at(80), 3)
    assert asked.voiced("guide", _at(5), 3), "what was sent at first still counts"
    assert not asked.voiced("comfort", _at(0), 3), "another source has not heard them"
    assert not asked.voiced("guide", _at(0), 4), "the next breath begins anew"
