"""Questions of other calls come back as predictions, where they were asked and with how likely they are."""

import pytest

from cuecard.belief.types import Belief
from cuecard.precedents import Precedent, Precedents
from cuecard.precedents.types import Vector
from cuecard.predictors.bank import QuestionBank
from cuecard.predictors.types import SessionView, TurnView
from tests.precedents.calls import turn, vector
from tests.precedents.test_similar import near

FEES, COVER, PETS = 10, 20, 30


def asks(_: str, seen: TurnView) -> bool:
    return seen.utterance.endswith("?")


def asked(session: str, number: int, about: int, words: str, action: str = "answer", **more: object) -> Precedent:
    embedding: Vector = near(about, 0.95) if words.startswith("~") else vector(about)
    return turn(session, number, action, utterance=words, embedding=embedding, question=True, **more)


async def filled(store: Precedents) -> QuestionBank:
    for index in range(8):
        await store.record([turn(f"q{index}", 0, "quote", utterance="go on")])
        await store.record([asked(f"q{index}", 1, FEES, "What are the fees?" if index else "~And what are the fees")])
        await store.record([asked(f"q{index}", 2, COVER, "Is glass covered?")])
    for index in range(4):
        await store.record([turn(f"n{index}", 0, "quote", utterance="go on"), turn(f"n{index}", 1, "close")])
    await store.flush()
    return QuestionBank(store, asks)


def view(*turns: TurnView, tenant: str = "acme", sop: str = "renewal") -> SessionView:
    return SessionView(sop, turns, Belief(), tenant=tenant)


QUOTED = TurnView("go on", "said_quote", "quote")


async def test_the_question_usually_asked_next_is_predicted_with_its_typical_wording(store: Precedents) -> None:
    bank = await filled(store)
    found = await bank.predict(view(QUOTED))
    best = {utterance.offset: utterance for utterance in reversed(found)}
    assert best[1].text == "What are the fees?"
    assert best[1].p == pytest.approx(8 / 12, abs=0.15)
    assert best[2].text == "Is glass covered?"
    assert {utterance.origin for utterance in found} == {"bank"}
    assert sum(utterance.p for utterance in found if utterance.offset == 1) < 1.0


async def test_one_topic_leads_to_the_next_and_what_was_asked_is_not_predicted_again(store: Precedents) -> None:
    bank = await filled(store)
    question = TurnView("and the fees?", "said_answer", "answer", embedding=near(FEES, 0.9))
    found = await bank.predict(view(QUOTED, question))
    assert found[0].text == "Is glass covered?"
    assert found[0].p > 0.6
    assert "fees" not in " ".join(utterance.text for utterance in found)


async def test_a_forgotten_call_takes_its_question_out_of_the_bank(store: Precedents) -> None:
    bank = await filled(store)
    await store.record([turn("x", 0, "quote"), asked("x", 1, PETS, "May my iguana come along?")])
    await store.flush()
    assert any("iguana" in utterance.text for utterance in await bank.predict(view(QUOTED)))
    await store.forget_session("acme", "x")
    assert not any("iguana" in utterance.text for utterance in await bank.predict(view(QUOTED)))


async def test_tenants_and_procedures_have_banks_of_their_own(store: Precedents) -> None:
    bank = await filled(store)
    assert await bank.predict(view(QUOTED, tenant="other")) == ()
    assert await bank.predict(view(QUOTED, sop="cards")) == ()


async def test_stand_ins_for_personal_values_are_not_spoken(store: Precedents) -> None:
    bank = QuestionBank(store, asks)
    await store.record([turn("x", 0, "quote"), asked("x", 1, PETS, "Is {name} covered abroad?")])
    await store.flush()
    assert [utterance.text for utterance in await bank.predict(view(QUOTED))] == ["Is covered abroad?"]


async def test_questions_answered_by_one_document_are_one_topic_however_they_are_worded(store: Precedents) -> None:
    bank = QuestionBank(store, asks)
    for index, words in enumerate(
        ("Is glass covered?", "what about a chipped windscreen?", "stone hit my window, paid?")
    ):
        question = turn(
            f"x{index}", 1, "answer", utterance=words, embedding=vector(40 + index), question=True, topic="glass"
        )
        await store.record([turn(f"x{index}", 0, "quote"), question])
    await store.record([turn("y", 0, "quote"), turn("y", 1, "close")])
    await store.flush()
    first = (await bank.predict(view(QUOTED)))[0]
    assert first.p == pytest.approx(3 / 4, abs=0.1)
