"""Requests in the shapes that voice platforms publish for their custom LLM servers."""

from typing import Any

from tests.server.asgi import text_of
from tests.server.conftest import Client

HELLO = "hello, I'd like to renew my car insurance"
SYSTEM = {"role": "system", "content": "You are a helpful phone agent."}


def vapi(call_id: str, *messages: dict[str, str]) -> dict[str, Any]:
    """A chat completion as Vapi's custom-llm provider sends it: the call and its parties beside the messages."""
    return {
        "model": "insurance_renewal",
        "messages": [SYSTEM, *messages],
        "temperature": 0.3,
        "max_tokens": 250,
        "stream": True,
        "call": {"id": call_id, "orgId": "org-1", "type": "inboundPhoneCall", "status": "in-progress"},
        "phoneNumber": {"id": "pn-1", "number": "+15550100"},
        "customer": {"number": "+15550199"},
        "metadata": {"numAssistantTurns": 1},
    }


def elevenlabs(session: str, *messages: dict[str, str]) -> dict[str, Any]:
    """A chat completion as an ElevenLabs agent with a custom LLM sends it: extra body, tools, a user id."""
    return {
        "model": "insurance_renewal",
        "messages": [SYSTEM, *messages],
        "temperature": 0.5,
        "max_tokens": 500,
        "stream": True,
        "user_id": "caller-7",
        "elevenlabs_extra_body": {"session_id": session},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "end_call",
                    "description": "Ends the call.",
                    "parameters": {"type": "object", "properties": {"reason": {"type": "string"}}},
                },
            }
        ],
    }


def test_a_vapi_call_is_one_session_by_its_call_id(client: Client) -> None:
    async def call(name: str) -> tuple[Any, Any]:
        first = vapi(name, {"role": "user", "content": HELLO})
        said = text_of(await client.request("POST", "/v1/chat/completions", first).whole())
        more = vapi(
            name,
            {"role": "user", "content": HELLO},
            {"role": "assistant", "content": said},
            {"role": "user", "content": "it's policy 343705 and I was born on 8 January 1942"},
        )
        answer = await client.request("POST", "/v1/chat/completions", more).whole()
        return text_of(answer), await client.request("GET", f"/v1/sessions/{name}").whole()

    name = client.session()
    reply, session = client.run(call(name))
    assert "how many miles" in reply
    assert session["turn"] == 2


def test_a_repeated_vapi_request_takes_no_second_turn(client: Client) -> None:
    async def call(name: str) -> tuple[str, str, Any]:
        body = vapi(name, {"role": "user", "content": HELLO})
        first = text_of(await client.request("POST", "/v1/chat/completions", body).whole())
        again = text_of(await client.request("POST", "/v1/chat/completions", body).whole())
        return first, again, await client.request("GET", f"/v1/sessions/{name}").whole()

    first, again, session = client.run(call(client.session()))
    assert first == again != ""
    assert session["turn"] == 1


def test_elevenlabs_extra_body_names_the_session_and_its_tools_are_no_hindrance(client: Client) -> None:
    async def call(name: str) -> tuple[str, Any]:
        body = elevenlabs(name, {"role": "user", "content": HELLO})
        reply = text_of(await client.request("POST", "/v1/chat/completions", body).whole())
        return reply, await client.request("GET", f"/v1/sessions/{name}").whole()

    reply, session = client.run(call(client.session()))
    assert "policy number" in reply
    assert session["turn"] == 1


def test_an_agent_first_platform_gets_the_opening(client: Client) -> None:
    async def call(name: str) -> str:
        return text_of(await client.request("POST", "/v1/chat/completions", elevenlabs(name)).whole())

    assert client.run(call(client.session())).startswith("Hello")
