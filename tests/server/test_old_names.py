"""A name that comes again is no way into the call that bore it: its caller may be another."""

import pytest

from cuecard.server import calls
from tests.server.asgi import text_of
from tests.server.conftest import Client

KNOWN = "hi, it's policy 343705 and I was born on 8 January 1942"


def test_a_conversation_under_the_name_of_a_call_that_is_over_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def call(session: str) -> None:
        verified = text_of(await client.chat(session, KNOWN).whole())
        goodbye = text_of(await client.chat(session, KNOWN, verified, "no thanks, bye").whole())
        assert (await client.get(f"/v1/sessions/{session}"))["ended"]
        monkeypatch.setattr(calls, "ENDED_IDLE_S", -1.0)
        anew = client.chat(session, "hello, what does my policy cover?")
        told = await anew.whole()
        assert (anew.status, told["error"]["code"]) == (409, "session_over")
        greeted = client.chat(session, "Hello, how can I help?", "what does my policy cover?")
        await greeted.whole()
        assert greeted.status == 409
        repeat = client.chat(session, KNOWN, verified, "no thanks, bye")
        assert text_of(await repeat.whole()) == goodbye, "a late repeat is no new call"
        after = client.chat(session, KNOWN, verified, "no thanks, bye", goodbye, "oh, one more thing")
        await after.whole()
        assert after.status == 200, "nor are more words in the same conversation"

    client.run(call(client.session()))


def test_a_call_that_goes_on_is_not_over(client: Client) -> None:
    async def call(session: str) -> int:
        await client.chat(session, KNOWN).whole()
        newest_words_only = client.chat(session, "about nine thousand miles a year")
        await newest_words_only.whole()
        return newest_words_only.status

    assert client.run(call(client.session())) == 200
