"""The `openai` client has calls with a real `cuecard serve` process."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from pytest_socket import enable_socket

from tests.server.process import Served, serve

pytestmark = [pytest.mark.sockets, pytest.mark.slow]

MODEL = "insurance_renewal"
CALL = (
    "hi, it's policy 343705 and I was born on 8 January 1942",
    "about nine thousand miles a year",
    "yes that sounds fine, let's go ahead",
    "monthly please",
    "yes, go ahead and renew it",
    "no that's all, goodbye",
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    enable_socket()
    keys = "acme:key-a,globex:key-b"
    with serve(tmp_path_factory.mktemp("data"), MODEL, CUECARD_API_KEYS=keys) as served:
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="key-a", max_retries=0) as client:
        yield client


def have_turn(client: openai.OpenAI, session: str, messages: list[Any], **headers: str) -> str:
    """A streamed turn; the messages grow by it."""
    stream = client.chat.completions.create(
        model=MODEL, messages=messages, stream=True, extra_headers={"X-Session-Id": session} | headers
    )
    said = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    messages.append({"role": "assistant", "content": said})
    return said


def session_of(served: Served, name: str, part: str = "", key: str = "key-a") -> Any:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.get(f"{served.url}/v1/sessions/{name}{part}", headers=headers, timeout=30.0).json()


def test_a_whole_call_is_had_by_streaming(client: openai.OpenAI, served: Served) -> None:
    messages: list[Any] = []
    assert have_turn(client, "whole", messages).startswith("Hello")
    said = []
    for words in CALL:
        messages.append({"role": "user", "content": words})
        said.append(have_turn(client, "whole", messages))
    assert "Gordon Peel" in said[0]
    assert "461" in said[1]
    assert "HB" in said[4], "the renewal's reference"
    view = session_of(served, "whole")
    assert (view["ended"], view["outcome"], view["turn"]) == (True, "success", 7)
    ledger = session_of(served, "whole", "/ledger")
    assert ledger["needs"].get("ready", 0) + ledger["needs"].get("joined", 0) > 0


def test_a_client_that_leaves_and_asks_again_with_its_key_gets_one_turn(client: openai.OpenAI, served: Served) -> None:
    messages = [{"role": "user", "content": CALL[0]}]
    headers = {"X-Session-Id": "leaves", "Idempotency-Key": "turn-1"}
    with pytest.raises(openai.APITimeoutError):
        client.with_options(timeout=0.6).chat.completions.create(
            model=MODEL,
            messages=messages,  # type: ignore[arg-type]
            extra_headers=headers,
        )
    first = have_turn(client, "leaves", list(messages), **headers)
    again = have_turn(client, "leaves", list(messages), **headers)
    assert "Gordon Peel" in first
    assert first.endswith(again)
    assert session_of(served, "leaves")["turn"] == 1


def test_a_stream_that_is_closed_early_leaves_the_call_usable(client: openai.OpenAI, served: Served) -> None:
    messages: list[Any] = [{"role": "user", "content": CALL[0]}]
    stream = client.chat.completions.create(
        model=MODEL, messages=messages, stream=True, extra_headers={"X-Session-Id": "closed"}
    )
    heard = next(iter(stream)).choices[0].delta.content
    stream.close()
    messages += [{"role": "assistant", "content": heard}, {"role": "user", "content": "hello? are you there?"}]
    assert have_turn(client, "closed", messages)
    facts = session_of(served, "closed")["facts"]
    assert facts["policy_number"] == "343705", "what was said before the line was cut must not be lost"


def test_two_sessions_at_once_keep_their_own_facts(client: openai.OpenAI, served: Served) -> None:
    numbers = {"one": "343705", "two": "343706"}

    def have(name: str) -> None:
        have_turn(client, name, [{"role": "user", "content": f"my policy is {numbers[name]}"}])

    threads = [threading.Thread(target=have, args=(name,)) for name in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: session_of(served, name)["facts"]["policy_number"] for name in numbers} == numbers


def test_another_tenant_finds_nothing_under_the_same_name(client: openai.OpenAI, served: Served) -> None:
    have_turn(client, "mine", [{"role": "user", "content": "my policy is 343705"}])
    assert session_of(served, "mine", key="key-b")["error"]["code"] == "session_not_found"


def test_a_wrong_key_model_or_size_is_refused_as_openai_would(client: openai.OpenAI, served: Served) -> None:
    hello: Any = [{"role": "user", "content": "hello"}]
    with pytest.raises(openai.AuthenticationError, match="API key"):
        client.with_options(api_key="key-x").chat.completions.create(model=MODEL, messages=hello)
    with pytest.raises(openai.NotFoundError, match="insurance_renewal"):
        client.chat.completions.create(model="gpt-4o", messages=hello)
    with pytest.raises(openai.APIStatusError) as told:
        client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "x" * 1_048_576}])
    assert told.value.status_code == 413
    assert [model.id for model in client.models.list()] != []
    assert httpx.get(f"{served.url}/healthz").status_code == 200


def test_a_port_in_use_is_told_with_the_remedy(served: Served, tmp_path: Path) -> None:
    port = served.url.rpartition(":")[2]
    command = [str(Path(sys.executable).with_name("cuecard")), "serve", "--port", port, "--memory"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "--port 0" in done.stderr.replace("\n", " ")


def test_without_keys_only_the_loopback_may_be_served() -> None:
    command = [str(Path(sys.executable).with_name("cuecard")), "serve", "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "CUECARD_API_KEYS" in done.stderr
