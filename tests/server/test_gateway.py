"""Turns through the gateway: however often and in whatever order a platform asks, each turn is taken once."""

import asyncio
from typing import Any

from cuecard.events import Heard, NeedResolved
from tests.server.asgi import text_of
from tests.server.conftest import Client

CALLER = "hi, it's policy 343705 and I was born on 8 January 1942"
TO_THE_YES = (CALLER, "about nine thousand miles a year", "yes that sounds fine, let's go ahead", "monthly please")
"""What a caller says until only the confirmation is missing."""


async def bring_to_the_yes(client: Client, session: str) -> list[str]:
    """The conversation up to the question whether to renew."""
    said: list[str] = []
    for words in TO_THE_YES:
        said += [words, text_of(await client.chat(session, *said, words).whole())]
        await asyncio.sleep(8.0)
    return said


def board_of(client: Client, session: str) -> Any:
    return client.gateway._services.known_board(client.tenant, session)


def heard_finally(client: Client, session: str) -> list[str]:
    return [event.text for event in board_of(client, session).log.of(Heard) if event.final]


def test_the_agent_opens_the_call_when_nobody_has_spoken(client: Client) -> None:
    async def call(session: str) -> tuple[Any, Any]:
        first = await client.request("POST", "/v1/chat/completions", body(), x_session_id=session).whole()
        return first, await client.request("POST", "/v1/chat/completions", body(), x_session_id=session).whole()

    def body() -> dict[str, Any]:
        return {"model": "insurance_renewal", "messages": [{"role": "system", "content": "You are kind."}]}

    first, again = client.run(call(client.session()))
    assert text_of(first).startswith("Hello")
    assert text_of(again) == text_of(first)
    assert first["cuecard"]["turn"] == again["cuecard"]["turn"] == 1


def test_a_streamed_reply_says_the_same_as_a_whole_one(client: Client) -> None:
    async def call() -> tuple[Any, Any]:
        return (
            await client.chat(client.session(), "hello there").whole(),
            await client.chat(
                client.session(), "hello there", stream=True, stream_options={"include_usage": True}
            ).whole(),
        )

    whole, streamed = client.run(call())
    assert text_of(streamed) == text_of(whole) != ""
    assert streamed[0]["choices"][0]["delta"]["role"] == "assistant"
    assert streamed[-2]["choices"][0]["finish_reason"] == "stop"
    assert streamed[-1]["usage"]["completion_tokens"] > 0


def test_overlapping_requests_for_one_turn_share_its_reply(client: Client) -> None:
    async def call(session: str) -> tuple[list[Any], int]:
        answers = await asyncio.gather(*(client.chat(session, CALLER).whole() for _ in range(3)))
        return answers, board_of(client, session).turn

    answers, turns = client.run(call(client.session()))
    assert len({text_of(answer) for answer in answers}) == 1
    assert turns == 1


def test_a_retry_with_the_same_key_gets_the_same_reply_and_no_turn(client: Client) -> None:
    async def call(session: str) -> list[Any]:
        asked = [
            client.chat(session, "hello there", key="k1").whole(),
            client.chat(session, "hello there", key="k1").whole(),
        ]
        return [await one for one in asked] + [await client.chat(session, "hello there", key="k2").whole()]

    first, retried, _ = client.run(call(client.session()))
    assert text_of(first) == text_of(retried)
    assert first["cuecard"]["turn"] == retried["cuecard"]["turn"]


def test_a_confirmed_write_happens_once_however_often_the_request_comes(client: Client) -> None:
    async def call(session: str) -> tuple[int, list[str], int]:
        said = await bring_to_the_yes(client, session)
        ledger = board_of(client, session).kit.broker._writer._ledger
        settled: list[str] = []
        settle = ledger.settle

        async def counted(key: str, records: list[dict[str, Any]]) -> None:
            settled.append(key)
            await settle(key, records)

        ledger.settle = counted
        try:
            yes = "yes, go ahead and renew it"
            leaving = client.chat(session, *said, yes)
            await asyncio.sleep(0.5)
            await leaving.leave()
            answers = await asyncio.gather(*(client.chat(session, *said, yes).whole() for _ in range(2)))
            answers.append(await client.chat(session, *said, yes).whole())
            other = await client.chat(session, *said, "yes, please do renew it for me").whole()
        finally:
            ledger.settle = settle
        writes = [event for event in board_of(client, session).log.of(NeedResolved) if event.how == "write"]
        assert "HB" in text_of(answers[0])
        assert text_of(other) != ""
        return len(settled), [text_of(answer).partition("One")[0] for answer in answers], len(writes)

    n_settled, texts, n_told = client.run(call(client.session()))
    assert n_settled == 1
    assert n_told == 1
    assert texts[1] == texts[0]


def test_leaving_while_data_is_fetched_takes_no_turn_and_the_fetch_goes_on(client: Client) -> None:
    async def call(session: str) -> tuple[int, list[str], Any]:
        request = client.chat(session, CALLER, stream=True)
        assert b"One second" in (await request.piece() or b"")
        await request.leave()
        await asyncio.sleep(0.01)
        taken, flying = (
            board_of(client, session).committed,
            (await client.get(f"/v1/sessions/{session}/pool"))["in_flight"],
        )
        await asyncio.sleep(8.0)
        began = asyncio.get_running_loop().time()
        answer = await client.chat(session, CALLER).whole()
        return taken, [one["dep"] for one in flying], (text_of(answer), asyncio.get_running_loop().time() - began)

    taken, flying, (text, took_s) = client.run(call(client.session()))
    assert taken == 0
    assert "identity" in flying
    assert "Gordon Peel" in text
    assert took_s < 4.0


def test_other_final_words_take_the_place_of_a_turn_under_way(client: Client) -> None:
    async def call(session: str) -> tuple[str, int, dict[str, str]]:
        speculative = client.chat(session, "Hello", CALLER)
        await asyncio.sleep(0.2)
        final = await client.chat(session, "Hello", "it's policy 343706").whole()
        await speculative.whole()
        return text_of(final), board_of(client, session).turn, board_of(client, session).desk.facts

    text, turns, facts = client.run(call(client.session()))
    assert "343706" in text
    assert turns == 1
    assert facts == {"policy_number": "343706"}


def test_other_final_words_take_the_place_of_a_turn_already_taken(client: Client) -> None:
    async def call(session: str) -> tuple[int, dict[str, str], list[str]]:
        said = ["hello there", text_of(await client.chat(session, "hello there").whole())]
        await client.chat(session, *said, "my policy is 343705").whole()
        await client.chat(session, *said, "my policy is 343706 sorry").whole()
        board = board_of(client, session)
        return board.turn, board.desk.facts, [turn.utterance for turn in board.turns]

    turn, facts, utterances = client.run(call(client.session()))
    assert turn == 2
    assert facts == {"policy_number": "343706"}
    assert utterances == ["hello there", "my policy is 343706 sorry"]


def test_the_platforms_word_on_what_was_heard_overrides_ours(client: Client) -> None:
    async def call(session: str) -> tuple[str, str]:
        ours = text_of(await client.chat(session, "hello there").whole())
        await client.chat(session, "hello there", ours[:12], "it's about my car").whole()
        return ours, str((await client.get(f"/v1/sessions/{session}"))["turns"][0]["said"])

    ours, remembered = client.run(call(client.session()))
    assert remembered == ours[:12].strip()


def test_partial_words_send_fetches_out_and_take_no_turn(client: Client) -> None:
    async def call(session: str) -> tuple[Any, int]:
        path, words = f"/v1/sessions/{session}/hear", {"text": "my policy is 343705", "model": "insurance_renewal"}
        await client.request("POST", path, words).whole()
        await asyncio.sleep(0.3)
        return await client.get(f"/v1/sessions/{session}/pool"), board_of(client, session).turn

    pool, turn = client.run(call(client.session()))
    assert "identity" in [fetch["dep"] for fetch in pool["in_flight"]] + [item["dep"] for item in pool["items"]]
    assert turn == 0


def test_two_calls_at_once_do_not_mix(client: Client) -> None:
    async def call(one: str, two: str) -> tuple[Any, Any]:
        await asyncio.gather(
            client.chat(one, "my policy is 343705").whole(), client.chat(two, "my policy is 343706").whole()
        )
        return await client.get(f"/v1/sessions/{one}"), await client.get(f"/v1/sessions/{two}")

    one, two = client.run(call(client.session(), client.session()))
    assert (one["facts"], two["facts"]) == ({"policy_number": "343705"}, {"policy_number": "343706"})


def test_what_is_asked_wrongly_is_told_clearly(client: Client) -> None:
    async def ask(body: Any, **headers: str) -> tuple[int, Any]:
        request = client.request("POST", "/v1/chat/completions", body, **headers)
        answer = await request.whole()
        return request.status, answer["error"]

    def refused(body: Any, **headers: str) -> tuple[int, Any]:
        return client.run(ask(body, **headers))  # type: ignore[no-any-return]

    status, error = refused(b"{not json")
    assert (status, error["type"]) == (400, "invalid_request_error")
    status, error = refused({"messages": []})
    assert (status, error["param"]) == (400, "model")
    status, error = refused({"model": "gpt-4o", "messages": []})
    assert (status, error["code"]) == (404, "model_not_found")
    assert "insurance_renewal" in error["message"]
    status, error = refused({"model": "../../etc/passwd", "messages": []})
    assert status == 404
    status, error = refused(b"x" * 1_048_576)
    assert (status, error["code"]) == (413, "request_too_large")
    status, error = refused({"model": "insurance_renewal", "messages": []}, authorization="Bearer nobody's")
    assert (status, error["code"]) == (401, "invalid_api_key")
    status, error = refused({"model": "insurance_renewal", "messages": []}, x_session_id="s" * 200)
    assert status == 400


def test_a_session_keeps_the_procedure_it_began_with(client: Client) -> None:
    async def call(session: str) -> int:
        await client.chat(session, "hello there").whole()
        other = client.chat(session, "hello there", model="medical_booking")
        await other.whole()
        return other.status

    assert client.run(call(client.session())) == 409


def test_every_route_is_in_the_openapi_document(client: Client) -> None:
    async def call() -> Any:
        return await client.get("/openapi.json")

    paths = client.run(call())["paths"]
    assert {"/v1/chat/completions", "/v1/models", "/v1/sessions/{name}/hear", "/metrics", "/readyz"} <= paths.keys()
    assert "messages" in str(paths["/v1/chat/completions"]["post"]["requestBody"])


def test_the_ledger_and_the_metrics_are_views_of_the_same_log(client: Client) -> None:
    async def call(session: str) -> tuple[Any, bytes, Any]:
        await client.chat(session, CALLER).whole()
        await asyncio.sleep(8.0)
        request = client.request("GET", "/metrics")
        text = b""
        while (piece := await request.piece()) is not None:
            text += piece
        return (
            await client.get(f"/v1/sessions/{session}/ledger"),
            text,
            await client.get(f"/v1/sessions/{session}/events"),
        )

    ledger, metrics, events = client.run(call(client.session()))
    assert ledger["turns"] == 1
    assert ledger["fetches"] > 0
    assert {"Heard", "Decided", "Spoke", "Forecasted"} <= {event["type"] for event in events["data"]}
    assert b'cuecard_turns_total{procedure="insurance_renewal",tier="rules"}' in metrics
    assert b"343705" not in metrics
    assert b"acme" not in metrics


def test_a_call_followed_live_tells_what_happened_and_goes_on(client: Client) -> None:
    async def call(session: str) -> tuple[bytes, bytes]:
        await client.chat(session, "hello there").whole()
        await asyncio.sleep(3.0)
        follower = client.request("GET", f"/v1/sessions/{session}/events?live=true")
        so_far = b"".join([await follower.piece() or b"" for _ in range(len(board_of(client, session).log.events))])
        turn = client.chat(session, "hello there", "Hi", "my policy is 343705")
        fresh = await follower.piece()
        await turn.whole()
        await follower.leave()
        assert len(board_of(client, session).log.listeners) == 3, "a follower that left must be forgotten"
        return so_far, fresh or b""

    so_far, fresh = client.run(call(client.session()))
    assert b"event: SessionStarted" in so_far
    assert b"343705" in fresh or b"event: Spoke" in fresh


def test_hanging_up_closes_the_call_and_its_log_can_still_be_read(client: Client) -> None:
    async def call(session: str) -> tuple[int, int]:
        await client.chat(session, "hello there").whole()
        await client.request("POST", f"/v1/sessions/{session}/hang_up", {"outcome": "abandoned"}).whole()
        gone = client.request("GET", "/v1/sessions/never-was")
        await gone.whole()
        return len([who for who in client.gateway.calls if who.session == session]), gone.status

    assert client.run(call(client.session())) == (0, 404)
