"""Recorded calls become habits: what steps needed, what was asked, and from when on identity was known."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path

import numpy as np
import pytest

from cuecard.past_calls import MOST_TOPICS, RARE, lookahead, past_calls
from cuecard.precedents import Precedents
from cuecard.precedents.past import PastStep
from cuecard.prefetch.allowance import Allowance
from cuecard.prefetch.habits import Place
from cuecard.prefetch.lookahead import Lookahead
from cuecard.taught import EVERY, MINIMUM, Taught
from sops import load_procedure
from tests.precedents.calls import turn, vector

RENEWAL = load_procedure("insurance_renewal")


def step(action: str, at: float, topic: int = 0) -> PastStep:
    return PastStep("loyal_renewer", action, topic, at)


def test_a_steps_declared_reads_are_what_it_needed() -> None:
    ((review, asked, renewed),) = past_calls(
        RENEWAL, [[step("review_policy", 0.0), step("answer_question", 9.0, 7), step("renew_policy", 20.0)]]
    ).calls
    assert review.records == ("policy", "claims")
    assert (asked.records, asked.question) == ((), "7")
    assert renewed.records == ()


def test_identity_counts_as_known_once_a_step_that_demands_it_was_taken() -> None:
    names = ("greet", "verify_identity", "answer_question", "review_policy", "answer_question")
    (call,) = past_calls(RENEWAL, [[step(name, 0.0) for name in names]]).calls
    assert [one.verified for one in call] == [False, False, False, True, True]


def test_a_turn_lasts_till_the_next_but_no_less_than_a_second_and_no_more_than_a_minute() -> None:
    (call,) = past_calls(RENEWAL, [[step("greet", at) for at in (0.0, 0.0, 9.0, 900.0)]]).calls
    assert [one.seconds for one in call[:3]] == [1.0, 9.0, 60.0]


def test_a_question_that_no_search_answers_and_a_step_of_old_say_nothing() -> None:
    past = past_calls(RENEWAL, [[step("present_quote", 0.0, 3), step("no_longer_there", 9.0, 4)]])
    assert [one.question for one in past.calls[0]] == [None, None]
    assert past.calls[0][1].records == ()
    assert past.asked_of == {}


def test_rare_questions_are_counted_but_not_told_apart() -> None:
    often = [[step("answer_question", 0.0, topic)] * 2 for topic in range(1, MOST_TOPICS + 1)]
    past = past_calls(RENEWAL, [*often, [step("answer_question", 0.0, 99)]])
    assert len(past.asked_of) == MOST_TOPICS
    assert past.calls[-1][0].question == RARE


def test_what_always_follows_is_ordered_and_dearer_fetches_only_if_they_save_more() -> None:
    names = ("verify_identity", "review_policy", "present_quote", "ease_price", "close_call")
    past = past_calls(RENEWAL, [[step(name, 10.0 * k) for k, name in enumerate(names)] for _ in range(40)])
    ahead = lookahead(RENEWAL, past, {"market": 9.0}, 0.0, Allowance(4.0))
    place = Place()
    for one in past.calls[0][:2]:
        place = ahead.habits.moved(place, one)
    ordered = {choice.name: choice for choice in ahead.orders(place, lambda _: 0.0)}
    assert {"quote", "market"} <= ordered.keys()
    assert "vehicle" not in ordered
    assert ordered["market"].value_s == pytest.approx(9.0, abs=0.2)
    assert ahead.orders(place._replace(verified=False), lambda _: 0.0) == []


async def test_a_lesson_takes_enough_calls_and_forgotten_ones_do_not_stay(tmp_path: Path) -> None:
    store = await Precedents.open(tmp_path / "precedents.sqlite")
    tasks: list[asyncio.Task[None]] = []

    def in_background(work: Coroutine[object, object, None]) -> None:
        tasks.append(asyncio.get_running_loop().create_task(work))

    async def notice(session: str) -> None:
        taught.notice(session)
        await asyncio.gather(*tasks)

    async def add(first: int, last: int) -> None:
        more = {"sop": RENEWAL.name, "utterance": "Is glass covered?", "embedding": vector(1), "question": True}
        for number in range(first, last):
            await store.record([turn(f"past{number}", 0, "answer_question", **more)])
            await store.set_outcome("acme", f"past{number}", "success")
        await store.flush()

    def lesson() -> Lookahead | None:
        return taught.ahead

    taught = Taught(
        store,
        "acme",
        RENEWAL,
        lambda texts: np.ones((len(texts), 384), np.float32),
        in_background,
        {},
        0.0,
        Allowance(4.0),
    )
    await add(0, MINIMUM - 1)
    await notice("first")
    assert lesson() is None
    await add(MINIMUM - 1, MINIMUM)
    await notice("second")
    await notice("third")
    assert lesson() is not None
    assert list(taught.sentences.values()) == ["Is glass covered?"]
    await store.forget_tenant("acme")
    await notice("fourth")
    assert taught.sentences == {}
    for number in range(EVERY):
        await notice(f"later{number}")
    assert lesson() is None
    await store.close()
