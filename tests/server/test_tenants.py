"""Two tenants use the same names for everything, at random and at once, and neither ever sees the other's."""

import asyncio
import random
import re

from tests.server.conftest import Client

N_REQUESTS = 1000
NAMES = [f"call-{n}" for n in range(6)]
MARKS = {"acme": ["343705", "343706", "111111"], "globex": ["454545", "565656", "676767"]}
"""Policy numbers that only callers of one tenant ever say."""


async def _one(client: Client, rng: random.Random) -> bytes:
    """A random request as a random tenant; what came back, headers included."""
    name, mark = rng.choice(NAMES), rng.choice(MARKS[client.tenant])
    path = f"/v1/sessions/{name}"
    kind = rng.choice(["chat", "stream", "leave", "hear", "look", "look", "look", "list", "hang_up"])
    if kind in {"chat", "stream", "leave"}:
        words = rng.choice([f"my policy is {mark}", f"sorry, I meant {mark}", "what does it cost", "hello"])
        request = client.chat(name, words, stream=kind != "chat", key=rng.choice(["", f"k{rng.randrange(4)}"]))
    elif kind == "hear":
        request = client.request("POST", f"{path}/hear", {"text": f"it's {mark}", "model": "insurance_renewal"})
    elif kind == "hang_up":
        request = client.request("POST", f"{path}/hang_up", {})
    elif kind == "list":
        request = client.request("GET", "/v1/sessions")
    else:
        request = client.request("GET", path + rng.choice(["", "/pool", "/forecast", "/ledger", "/events"]))
    content = b""
    if kind == "leave":
        await asyncio.sleep(rng.random())
        await request.leave()
    while (piece := await request.piece()) is not None:
        content += piece
    await request.task
    assert request.status < 500, content
    return content + repr(request.headers).encode()


def _marked(content: bytes, marks: list[str]) -> bool:
    """Whether one of the numbers stands there by itself: among the decimals of a probability it is nobody's."""
    return any(re.search(rf"(?<![\d.]){mark}(?!\d)".encode(), content) for mark in marks)


def test_a_thousand_random_requests_never_show_one_tenant_anothers_data(client: Client) -> None:
    rng = random.Random(7)

    async def call() -> dict[str, list[bytes]]:
        seen: dict[str, list[bytes]] = {"acme": [], "globex": []}

        async def as_tenant(tenant: str, n: int) -> None:
            mine = client.as_tenant(tenant)
            for _ in range(n):
                seen[tenant].append(await _one(mine, rng))
                await asyncio.sleep(rng.random())

        workers = 10
        each = N_REQUESTS // (2 * workers)
        await asyncio.gather(*(as_tenant(tenant, each) for tenant in seen for _ in range(workers)))
        return seen

    seen = client.run(call())
    assert sum(map(len, seen.values())) == N_REQUESTS
    for tenant, other in (("acme", "globex"), ("globex", "acme")):
        everything = b"".join(seen[tenant])
        assert _marked(everything, MARKS[tenant]), "its own data must show up to prove anything"
        assert not _marked(everything, MARKS[other])
        assert other.encode() not in everything
    boards = client.gateway._services._boards.all()
    assert {board.tenant for board in boards} == {"acme", "globex"}
    for board in boards:
        who = board.tenant, board.session_id
        assert all((item.tenant, item.session) == who for item in board.pool.items if item.scope == "session")


def test_learning_from_one_tenants_calls_does_not_show_in_anothers_forecasts(client: Client) -> None:
    services = client.gateway._services

    async def call() -> bool:
        one = await client.gateway.call("acme", "a", "insurance_renewal")
        two = await client.gateway.call("globex", "a", "insurance_renewal")
        return services.minds.predictor(one.session.board) is services.minds.predictor(two.session.board)

    assert client.run(call()) is False


def test_without_keys_a_page_of_another_site_is_not_served() -> None:
    import pytest
    from starlette.datastructures import Headers

    from cuecard.server.door import Door
    from cuecard.server.errors import ApiError
    from cuecard.server.keys import Keys

    door = Door(lambda *_: None, Keys({}))  # type: ignore[arg-type]
    assert door._tenant(Headers({"host": "127.0.0.1:8765"})) == "default"
    with pytest.raises(ApiError, match="CUECARD_API_KEYS"):
        door._tenant(Headers({"host": "127.0.0.1:8765", "sec-fetch-site": "cross-site"}))
    with pytest.raises(ApiError, match="CUECARD_API_KEYS"):
        door._tenant(Headers({"host": "evil.example"}))
