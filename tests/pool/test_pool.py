"""The pool: what is kept, what goes, what is picked."""

import math

import numpy as np
import pytest

from cuecard.pool import CAP, MOST_PIECES, PREVIOUS_TURN, Item, Pool, Vector, context_query, pieces_of


def unit(*values: float) -> Vector:
    vector = np.zeros(8, np.float32)
    vector[: len(values)] = values
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def passage(name: str, vector: Vector | None = None, expires_at_s: float = 100.0, dep: str = "clauses") -> Item:
    return Item(
        name, dep, "glass is covered at any garage", data={"from": name}, vector=vector, expires_at_s=expires_at_s
    )


def pool_of(*items: Item, cap: int = CAP) -> Pool:
    pool = Pool(cap, dim=8)
    for item in items:
        pool.add(item)
    return pool


def test_the_nearest_item_is_picked_first() -> None:
    pool = pool_of(passage("east", unit(1)), passage("north", unit(0, 1)), passage("between", unit(1, 1)))
    picks = pool.pick(unit(1, 0.1), k=2)
    assert [pick.item.id for pick in picks] == ["east", "between"]
    assert picks[0].cosine == pytest.approx(0.995, abs=0.001)


def test_an_empty_pool_has_nothing_to_pick_and_says_so() -> None:
    assert pool_of().pick(unit(1)) == []


def test_what_the_forecast_asked_for_gets_a_bonus_and_keeps_its_cosine() -> None:
    pool = pool_of(passage("a", unit(1, 0.36)), passage("b", unit(1, 0, 0.4)))
    assert pool.pick(unit(1))[0].item.id == "a"
    pool.asked_for(["b"])
    first = pool.pick(unit(1))[0]
    assert first.item.id == "b"
    assert first.score == pytest.approx(first.cosine + 0.1)
    pool.asked_for([])
    assert pool.pick(unit(1))[0].item.id == "a"


def test_an_expired_item_is_not_picked_even_before_it_is_dropped() -> None:
    pool = pool_of(passage("old", unit(1), expires_at_s=5.0), passage("new", unit(0, 1)))
    assert [pick.item.id for pick in pool.pick(unit(1), now_s=5.0)] == ["new"]
    assert pool.get("clauses", None, 5.0) is not None
    assert [item.id for item in pool.expire(5.0)] == ["old"]
    assert len(pool) == 1


def test_a_near_duplicate_replaces_the_older_passage_as_a_whole() -> None:
    pool = pool_of(passage("first", unit(1)))
    pool.add(passage("second", unit(1, 0.01), expires_at_s=90.0))
    (item,) = pool.items
    assert (item.id, item.data, item.expires_at_s) == ("second", {"from": "second"}, 90.0)


def test_near_twins_that_differ_in_a_number_are_both_kept() -> None:
    pool = pool_of()
    for level, excess in (("classic", 100), ("premium", 200)):
        pool.add(Item(level, "clauses", f"A windscreen costs you {excess} pounds.", vector=unit(1, excess / 1e4)))
    assert len(pool) == 2
    assert len(pool.pick(unit(1))) == 2


def test_two_accounts_that_read_alike_are_never_merged() -> None:
    first = Item('policy:{"plate":"AB12"}', "policy", "Fiesta, 300 pounds", vector=unit(1), args="1")
    second = Item('policy:{"plate":"AB13"}', "policy", "Fiesta, 301 pounds", vector=unit(1), args="2")
    pool = pool_of(first, second)
    assert len(pool) == 2
    assert {pick.item.text for pick in pool.pick(unit(1))} == {"Fiesta, 300 pounds", "Fiesta, 301 pounds"}


def test_duplicates_that_reach_the_picks_are_shown_once() -> None:
    pool = pool_of(passage("a", unit(1)), passage("b", unit(1, 0.5)))
    pool.items[1].vector = unit(1)
    pool.add(pool.items[1])
    assert len(pool.pick(unit(1))) == 1


def test_at_the_cap_the_least_used_item_goes_and_pinned_facts_stay() -> None:
    pool = pool_of(cap=3)
    pool.add(Item("fact:plate", "fact", "plate: AB12", vector=unit(1), pinned=True))
    for n in range(60):
        pool.add(passage(f"p{n}", unit(0, math.cos(0.6 * n), math.sin(0.6 * n))))
    assert len(pool) == 3
    assert pool.by_id("fact:plate") is not None


def test_a_full_pool_of_pinned_items_refuses_more() -> None:
    pool = pool_of(*(Item(f"fact:{n}", "fact", "", pinned=True) for n in range(3)), cap=3)
    assert not pool.add(passage("late", unit(1)))
    assert len(pool) == 3


def test_the_item_of_least_worth_goes_before_one_that_is_merely_older() -> None:
    pool = pool_of(passage("old", unit(1)), passage("new", unit(0, 1)), cap=2)
    pool.value({"old": 2.0, "new": 0.1})
    pool.add(passage("third", unit(0, 0, 1)))
    assert {item.id for item in pool.items} == {"old", "third"}


def test_a_corrected_fact_takes_its_dependants_and_nothing_else() -> None:
    dependant = Item("quote:1", "quote", "", facts=frozenset({"mileage", "plate"}), pinned=True)
    pool = pool_of(dependant, Item("policy:1", "policy", "", facts=frozenset({"plate"})))
    assert [item.id for item in pool.invalidate({"mileage"})] == ["quote:1"]
    assert [item.id for item in pool.items] == ["policy:1"]


def test_a_mispredicted_item_is_still_found_five_turns_later() -> None:
    pool = pool_of(passage("windscreen", unit(1)))
    for n in range(5):
        for m in range(3):
            pool.add(passage(f"other{n}{m}", unit(0, 1, n, m)))
        pool.asked_for([f"other{n}0"])
        pool.pick(unit(0, 1, n))
    assert pool.pick(unit(1))[0].item.id == "windscreen"


def test_a_snapshot_brings_back_everything_on_another_clock() -> None:
    pool = pool_of(passage("a", unit(1), expires_at_s=50.0), Item("fact:x", "fact", "x", pinned=True))
    pool.asked_for(["a"])
    back = Pool.from_json(pool.to_json(now_s=10.0), now_s=1000.0, away_s=5.0)
    assert back.version == pool.version
    assert back.by_id("a").expires_at_s == pytest.approx(1035.0)  # type: ignore[union-attr]
    assert back.by_id("fact:x").pinned  # type: ignore[union-attr]
    assert back.pick(unit(1), now_s=1000.0)[0].score == pytest.approx(1.1)
    assert len(Pool.from_json(pool.to_json(now_s=10.0), now_s=0.0, away_s=60.0)) == 1


def test_every_change_raises_the_version_and_reading_does_not() -> None:
    pool = pool_of(passage("a", unit(1)))
    before = pool.version
    pool.pick(unit(1))
    pool.get("clauses", None, 0.0)
    assert pool.version == before
    pool.pin("a")
    assert pool.version > before


def test_the_turn_before_colours_the_query_and_its_length_stays_one() -> None:
    query = context_query(unit(1), unit(0, 1))
    assert float(query @ query) == pytest.approx(1.0)
    assert query[1] == pytest.approx(PREVIOUS_TURN * query[0])
    assert context_query(unit(1), None)[0] == pytest.approx(1.0)


def test_one_fitting_sentence_puts_a_passage_first_and_its_cosine_stays_the_whole_s() -> None:
    long = passage("long", unit(0.2, 1))
    long.pieces = np.stack([unit(0, 0, 1), unit(1)])
    pool = pool_of(passage("near", unit(0.8, 0, 1)), long)
    first = pool.pick(unit(1))[0]
    assert first.item.id == "long"
    assert first.score == pytest.approx(1.0)
    assert first.cosine == pytest.approx(float(unit(0.2, 1)[0]))
    assert pool.nearest(unit(1))[0].item.id == "near"


def test_pieces_follow_their_item_when_another_leaves_and_are_gone_with_it() -> None:
    long = passage("long", unit(0, 1))
    long.pieces = np.stack([unit(1)])
    pool = pool_of(passage("first", unit(0, 0, 1)), long)
    pool.remove(lambda item: item.id == "first")
    assert pool.pick(unit(1))[0].score == pytest.approx(1.0)
    pool.add(passage("long", unit(0, 1)))
    assert pool.pick(unit(1))[0].score == pytest.approx(0.0, abs=1e-6)


def test_a_rare_word_that_both_say_decides_between_equals() -> None:
    texts = {"a": "Glass is covered.", "b": "A courtesy car is covered.", "c": "Luggage is covered."}
    pool = pool_of(*(Item(name, "clauses", text, vector=unit(1, n)) for n, (name, text) in enumerate(texts.items())))
    assert pool.pick(unit(1))[0].item.id == "a"
    pool = pool_of(*(Item(name, "clauses", text, vector=unit(1)) for name, text in texts.items()))
    first, second, _ = pool.pick(unit(1), words="and do I get a courtesy car?")
    assert first.item.id == "b"
    assert second.score == pytest.approx(1.0), "a word that all of them say weighs nothing"


def test_words_follow_their_item_when_another_leaves() -> None:
    pool = pool_of(*(Item(name, "clauses", f"about {name}", vector=unit(1)) for name in ("glass", "luggage", "tyres")))
    pool.remove(lambda item: item.id == "glass")
    assert pool.pick(unit(1), words="my tyres")[0].item.id == "tyres"
    assert pool.pick(unit(1), words="the glass")[0].score == pytest.approx(1.0)


def test_a_snapshot_leaves_pieces_out_and_reads_those_that_have_them() -> None:
    item = passage("a", unit(1))
    item.pieces = np.stack([unit(0, 3, 1), unit(0, 0, 1, 2)])
    row = item.to_json()
    assert "pieces" not in row
    assert Item.from_json(row).pieces is None
    assert Item.from_json({**row, "pieces": "AAAA"}).pieces is None


def test_a_passage_is_cut_into_its_sentences_and_into_few_pieces_however_long_it_is() -> None:
    assert pieces_of("Glass", "Glass is covered. Ask us first.") == ["Glass. Glass is covered.", "Glass. Ask us first."]
    assert pieces_of("Glass", "Only one sentence.") == []
    many = pieces_of("", " ".join(f"Sentence number {n} says something." for n in range(40)))
    assert len(many) == MOST_PIECES
    assert " ".join(many).count("Sentence number") == 40
    assert max(len(piece.split()) for piece in many) <= 2 * min(len(piece.split()) for piece in many)
