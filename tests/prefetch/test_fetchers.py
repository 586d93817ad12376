"""Every kind of data source: what it may be asked, and what comes back."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.tools import tool
from sqlalchemy import create_engine, text

from cuecard.errors import FetchRefused
from cuecard.prefetch.fetchers import (
    CallableFetcher,
    HttpFetcher,
    LangchainFetcher,
    OpenapiFetcher,
    SqlFetcher,
    TransientFetchError,
)
from cuecard.prefetch.fetchers.base import JunkError
from cuecard.prefetch.fetchers.openapi import Operation
from cuecard.prefetch.fetchers.sql import reads_only
from cuecard.prefetch.slots import fill, fill_partly
from cuecard.prefetch.types import FetchCall
from tests.prefetch.helpers import dependency

HERE = "tests.prefetch.test_fetchers"


def call(fetch: dict[str, Any], args: dict[str, str] | None = None, query: str = "", **changes: Any) -> FetchCall:
    return FetchCall("policy", dependency(fetch=fetch, **changes), args or {}, query)


def answering(handler: Callable[[httpx.Request], httpx.Response]) -> Callable[[], httpx.AsyncClient]:
    return lambda: httpx.AsyncClient(transport=httpx.MockTransport(handler))


# --- slots ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["{secret}", "{0.__class__}", "%(secret)s", "{value!r:>99}", "\\1"])
def test_a_callers_words_are_words_whatever_they_look_like(value: str) -> None:
    assert fill("say {value}", {"value": value, "secret": "s3cret"}) == f"say {value}"


def test_a_slot_reaches_no_attribute_and_obeys_no_format() -> None:
    values = {"name": "Ann", "obj": json}
    assert fill("{name.__class__}", values) is None
    assert fill("{name!r} {name:>10}", values) == "{name!r} {name:>10}"


def test_a_broad_query_closes_the_gap_that_a_missing_word_leaves() -> None:
    assert fill_partly("cover for {car} abroad", {}) == "cover for abroad"


# --- http -------------------------------------------------------------------------------------------------------------


async def test_http_fills_slots_percent_encoded_and_never_leaves_the_path() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"holder": "Ann", "price": 300})

    source = {"type": "http", "url": "https://api.test/policies/{plate}", "params": {"q": "{plate}"}}
    fetched = await HttpFetcher(answering(handler)).fetch(call(source, {"plate": "../admin?x=1&y"}))
    assert seen[0].url.raw_path.split(b"?")[0] == b"/policies/..%2Fadmin%3Fx%3D1%26y"
    assert seen[0].url.params["q"] == "../admin?x=1&y"
    assert fetched.records[0].data == {"holder": "Ann", "price": 300}
    assert fetched.records[0].text == "holder: Ann; price: 300"


@pytest.mark.parametrize("value", ["..", ".", " .. "])
async def test_a_value_that_would_climb_out_of_its_place_in_the_path_is_refused(value: str) -> None:
    source = {"type": "http", "url": "https://api.test/policies/{plate}/claims"}
    with pytest.raises(FetchRefused):
        await HttpFetcher(answering(lambda _: httpx.Response(200))).fetch(call(source, {"plate": value}))
    operation = Operation("GET", "https://api.test", "/policies/{plate}/claims", {"plate": "path"}, frozenset())
    with pytest.raises(FetchRefused):
        operation.request("policy", {"plate": value})


async def test_a_write_carries_its_key_as_a_hash_whatever_letters_a_name_has() -> None:
    keys: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["Idempotency-Key"])
        return httpx.Response(200, json={"reference": "R1"})

    source = {"type": "http", "url": "https://api.test/renew", "method": "POST", "body": {"name": "{name}"}}
    fetcher = HttpFetcher(answering(handler))
    for name in ("Zoë", "Zoë", "Ann"):
        write = replace(call(source, {"name": name}, effect="write"), idempotency_key=f"session/a/s:renew:{name}")
        await fetcher.fetch(write)
    assert keys[0] == keys[1] != keys[2]
    assert not any("Ann" in key or "session" in key for key in keys)


async def test_http_takes_its_token_from_the_environment_or_says_which_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = {"type": "http", "url": "https://api.test/x", "auth_env": "POLICY_TOKEN"}
    fetcher = HttpFetcher(answering(lambda request: httpx.Response(200, text=request.headers["authorization"])))
    with pytest.raises(FetchRefused, match="POLICY_TOKEN"):
        await fetcher.fetch(call(source))
    monkeypatch.setenv("POLICY_TOKEN", "abc")
    assert (await fetcher.fetch(call(source))).records[0].text == "Bearer abc"


async def test_http_tells_what_may_be_tried_again_from_what_may_not() -> None:
    source = {"type": "http", "url": "https://api.test/x"}
    for status in (429, 503):
        with pytest.raises(TransientFetchError):
            await HttpFetcher(answering(lambda request, status=status: httpx.Response(status))).fetch(call(source))  # type: ignore[misc]
    assert (await HttpFetcher(answering(lambda request: httpx.Response(404))).fetch(call(source))).records == ()
    broken = httpx.Response(200, text="{", headers={"content-type": "application/json"})
    with pytest.raises(JunkError):
        await HttpFetcher(answering(lambda request: broken)).fetch(call(source))


async def test_a_broad_http_fetch_leaves_out_what_is_not_known_yet() -> None:
    source = {"type": "http", "url": "https://api.test/x", "params": {"plan": "{plan}", "plate": "{plate}"}}
    fetcher = HttpFetcher(answering(lambda request: httpx.Response(200, text=str(request.url.query, "ascii"))))
    broad = await fetcher.fetch(call(source, {"plate": "AB12"}, requires=("plate",), partial=("plan",)))
    assert broad.records[0].text == "plate=AB12"
    with pytest.raises(FetchRefused, match="plan"):
        await fetcher.fetch(call(source, {"plate": "AB12"}))


# --- sql --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path}/office.db"
    monkeypatch.setenv("OFFICE_URL", url)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE claims (plate TEXT, sum INTEGER)"))
        connection.execute(text("INSERT INTO claims VALUES ('AB12', 900), ('CD34', 100)"))
    engine.dispose()
    return url


async def test_sql_binds_what_a_caller_said(database: str) -> None:
    source = {"type": "sql", "url_env": "OFFICE_URL", "select": "SELECT sum FROM claims WHERE plate = :plate"}
    fetcher = SqlFetcher()
    assert (await fetcher.fetch(call(source, {"plate": "AB12"}))).records[0].data == {"sum": 900}
    assert (await fetcher.fetch(call(source, {"plate": "' OR 1=1 --"}))).records == ()
    fetcher.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM claims",
        "SELECT 1; DELETE FROM claims",
        "WITH gone AS (DELETE FROM claims RETURNING *) SELECT * FROM gone",
        "SELECT * INTO other FROM claims",
        "PRAGMA writable_schema = 1",
        "/* SELECT */ DROP TABLE claims",
    ],
)
async def test_sql_runs_nothing_but_one_select(database: str, statement: str) -> None:
    with pytest.raises(FetchRefused):
        await SqlFetcher().fetch(call({"type": "sql", "url_env": "OFFICE_URL", "select": statement}))


@pytest.mark.parametrize(("url", "told"), [("sqlite:///{tmp}/gone.db", "no such file"), ("secret", "no database URL")])
async def test_a_database_url_that_cannot_be_right_is_said_and_makes_no_file(
    url: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFICE_URL", url.format(tmp=tmp_path))
    with pytest.raises(FetchRefused, match=f"OFFICE_URL .*{told}") as refused:
        await SqlFetcher().fetch(call({"type": "sql", "url_env": "OFFICE_URL", "select": "SELECT 1 AS one"}))
    assert "secret" not in str(refused.value)
    assert os.listdir(tmp_path) == []


def test_words_inside_strings_and_comments_do_not_make_a_select_a_write() -> None:
    assert reads_only("SELECT 'delete; drop' AS a -- update\nFROM claims;")


# --- functions and tools ----------------------------------------------------------------------------------------------


async def policy_of(plate: str, query: str) -> list[dict[str, str]]:
    """For `test_a_function_gets_its_arguments_by_name`."""
    return [{"id": f"{plate}-{n}", "text": query} for n in range(2)]


def strange() -> object:
    """For `test_what_no_record_can_be_made_of_is_junk`."""
    return object()


@tool
def weather(city: str, query: str) -> str:
    """A tool for tests."""
    return json.dumps({"city": city, "sky": query})


async def test_a_function_gets_its_arguments_by_name() -> None:
    source = {"type": "python", "target": f"{HERE}:policy_of"}
    fetched = await CallableFetcher().fetch(call(source, {"plate": "AB12"}, query="glass"))
    assert [(record.id, record.data["text"]) for record in fetched.records] == [
        ("AB12-0", "glass"),
        ("AB12-1", "glass"),
    ]


async def test_what_no_record_can_be_made_of_is_junk() -> None:
    with pytest.raises(JunkError, match="returned a object"):
        await CallableFetcher().fetch(call({"type": "python", "target": f"{HERE}:strange"}))


async def test_a_langchain_tool_gets_the_query_under_its_own_name_for_it() -> None:
    source = {"type": "langchain", "target": f"{HERE}:weather"}
    fetched = await LangchainFetcher().fetch(call(source, {"city": "Leeds"}, query="rain"))
    assert fetched.records[0].data == {"city": "Leeds", "sky": "rain"}


DESCRIBED = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://api.test/v1"}],
    "paths": {
        "/policies/{plate}": {
            "parameters": [{"$ref": "#/components/parameters/plate"}],
            "get": {"operationId": "readPolicy", "parameters": [{"name": "lang", "in": "query"}]},
        },
        "/renewals": {
            "post": {
                "operationId": "renew",
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"properties": {"plate": {}, "plan": {}}, "required": ["plate"]}}
                    }
                },
            }
        },
    },
    "components": {"parameters": {"plate": {"name": "plate", "in": "path", "required": True}}},
}


async def test_an_openapi_operation_is_called_as_it_is_described(tmp_path: Path) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"ok": True})

    described = tmp_path / "api.json"
    described.write_text(json.dumps(DESCRIBED))
    fetcher = OpenapiFetcher(answering(handler))
    read = {"type": "openapi", "target": str(described), "tool": "readPolicy"}
    await fetcher.fetch(call(read, {"plate": "A/1", "lang": "en", "unknown": "x"}))
    assert str(seen[0].url) == "https://api.test/v1/policies/A%2F1?lang=en"
    await fetcher.fetch(call(read | {"tool": "renew"}, {"plate": "A1"}, effect="write"))
    assert json.loads(seen[1].content) == {"plate": "A1"}
    with pytest.raises(FetchRefused, match="plate"):
        await fetcher.fetch(call(read, {}))
    with pytest.raises(FetchRefused, match="readPolicy, renew"):
        await fetcher.fetch(call(read | {"tool": "nothing"}))
