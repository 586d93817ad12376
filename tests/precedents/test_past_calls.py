"""Past calls come back whole and in order: the finished ones of one tenant and procedure, the newest first."""

from cuecard.precedents import Precedents
from tests.precedents.calls import call, turn, vector


async def ended(store: Precedents, *sessions: str, tenant: str = "acme") -> None:
    for session in sessions:
        await store.set_outcome(tenant, session, "success")
    await store.flush()


async def test_turns_are_in_order_and_say_who_called_what_was_done_and_asked_and_when(store: Precedents) -> None:
    asked = turn("s", 1, "answer", cohort="old", utterance="fees?", question=True, topic="fees", embedding=vector(1))
    await store.record([asked, turn("s", 0, "greet", cohort="old", utterance="hello")])
    await ended(store, "s")
    ((first, second),) = await store.past_calls("acme", "renewal")
    assert (first.cohort, first.action, first.topic, first.at) == ("old", "greet", 0, 1_000.0)
    assert (second.action, second.at) == ("answer", 1_001.0)
    assert list(await store.typical_questions("acme", "renewal", [second.topic])) == [second.topic]


async def test_only_finished_calls_of_the_tenant_and_procedure_count(store: Precedents) -> None:
    await store.record(call("mine", "ab", utterance="hm") + call("under_way", "ab", utterance="hm"))
    await store.record(call("cards", "cc", utterance="hm", sop="cards"))
    await store.record(call("theirs", "dd", utterance="hm", tenant="other"))
    await ended(store, "mine", "cards")
    await ended(store, "theirs", tenant="other")
    assert [[step.action for step in one] for one in await store.past_calls("acme", "renewal")] == [["a", "b"]]
    assert await store.past_calls("nobody", "renewal") == []
    assert await store.past_calls("acme", "nothing") == []


async def test_no_more_calls_are_read_than_asked_for_and_those_are_the_newest(store: Precedents) -> None:
    for letter in "abcde":
        await store.record(call(letter, letter * 2, utterance="hm"))
    await ended(store, *"abcde")
    assert [one[0].action for one in await store.past_calls("acme", "renewal", limit=2)] == ["e", "d"]


async def test_a_forgotten_call_teaches_nothing(store: Precedents) -> None:
    await store.record(call("s", "ab", utterance="hm"))
    await ended(store, "s")
    await store.forget_session("acme", "s")
    assert await store.past_calls("acme", "renewal") == []
