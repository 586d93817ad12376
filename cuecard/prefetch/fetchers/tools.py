"""Tools that agents already have as data sources: LangChain tools, MCP servers, OpenAPI operations."""

import asyncio
import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import yaml

from cuecard.errors import FetchError, FetchRefused
from cuecard.prefetch.fetchers.base import JunkError, TransientFetchError
from cuecard.prefetch.fetchers.callable import load_target, result_of
from cuecard.prefetch.fetchers.http import Client, answer_of, auth_header, check_status, idempotency_header
from cuecard.prefetch.fetchers.openapi import Operation, find_operation
from cuecard.prefetch.types import FetchCall, FetchResult
from sops.models import ToolFetch


def arguments(call: FetchCall, known: Mapping[str, Any]) -> dict[str, str]:
    """The call's arguments, with the query under the name that the tool has for it."""
    args: dict[str, str] = dict(call.args)
    if call.query:
        name = next((name for name in ("query", "question", "q", "input", "text") if name in known), "query")
        args.setdefault(name, call.query)
    return args


class LangchainFetcher:
    """A LangChain tool, `package.module:tool`."""

    async def fetch(self, call: FetchCall) -> FetchResult:
        source = call.spec.fetch
        assert isinstance(source, ToolFetch)
        tool = load_target(source.target)
        return result_of(call.dep, call.spec, parsed(await tool.ainvoke(arguments(call, tool.args))))


class McpFetcher:
    """A tool of an MCP server: `target` is its URL, or the command that starts it."""

    def __init__(self) -> None:
        self._tools: dict[tuple[str, str], Any] = {}

    async def fetch(self, call: FetchCall) -> FetchResult:
        source = call.spec.fetch
        assert isinstance(source, ToolFetch)
        key = (source.target, source.tool)
        if key not in self._tools:
            self._tools[key] = await self._find(call.dep, source)
        tool = self._tools[key]
        answer = await tool.ainvoke(arguments(call, tool.args))
        return result_of(call.dep, call.spec, mcp_text(answer))

    async def _find(self, dep: str, source: ToolFetch) -> Any:
        try:
            from langchain_mcp_adapters.client import MultiServerMCPClient
        except ImportError as error:
            raise FetchRefused(dep, f"{dep}: MCP tools need `pip install 'cuecard[tools]'`") from error
        connection: dict[str, Any]
        if source.target.startswith(("http://", "https://")):
            headers = auth_header(dep, source.auth_env)
            connection = {"transport": "streamable_http", "url": source.target, "headers": headers}
        else:
            command, *rest = shlex.split(source.target)
            # It sees the variable it was given, and none of this process's other secrets.
            token = os.environ.get(source.auth_env) if source.auth_env else None
            given = {source.auth_env: token} if source.auth_env and token else {}
            connection = {"transport": "stdio", "command": command, "args": rest, "env": given}
        try:
            tools = await MultiServerMCPClient({"server": connection}).get_tools()  # type: ignore[dict-item]
        except ExceptionGroup as group:
            # The client's task group hides what happened; its first leaf is what can be mended.
            told: BaseException = group
            while isinstance(told, BaseExceptionGroup):
                told = told.exceptions[0]
            why = f"{type(told).__name__}: {told}"
            raise TransientFetchError(dep, f"{dep}: the MCP server {source.target} does not answer ({why})") from group
        named = next((tool for tool in tools if tool.name == source.tool), None)
        if named is None:
            known = ", ".join(tool.name for tool in tools)
            raise FetchRefused(dep, f"{dep}: {source.target} has no tool {source.tool!r}; it has {known}")
        return named


class OpenapiFetcher:
    """One operation of an OpenAPI description: `target` is its URL or file, `tool` the operation's id."""

    def __init__(self, client: Client = httpx.AsyncClient) -> None:
        self._make = client
        self._client: httpx.AsyncClient | None = None
        self._operations: dict[tuple[str, str], Operation] = {}

    async def fetch(self, call: FetchCall) -> FetchResult:
        source = call.spec.fetch
        assert isinstance(source, ToolFetch)
        if self._client is None:
            self._client = self._make()
        headers = auth_header(call.dep, source.auth_env)
        key = (source.target, source.tool)
        if key not in self._operations:
            self._operations[key] = find_operation(call.dep, await self._read(call.dep, source, headers), source)
        operation = self._operations[key]
        headers |= idempotency_header(call)
        request = operation.request(call.dep, arguments(call, operation.parameters))
        try:
            response = await self._client.request(
                headers={**headers, **request.pop("headers")}, timeout=None, **request
            )
        except httpx.TransportError as error:
            raise TransientFetchError(call.dep, f"{call.dep}: {type(error).__name__}: {error}") from error
        check_status(call.dep, response)
        return result_of(call.dep, call.spec, answer_of(call.dep, response))

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _read(self, dep: str, source: ToolFetch, headers: Mapping[str, str]) -> Mapping[str, Any]:
        assert self._client is not None
        if source.target.startswith(("http://", "https://")):
            response = await self._client.get(source.target, headers=dict(headers), timeout=None)
            check_status(dep, response)
            raw = response.text
        else:
            raw = await asyncio.to_thread(Path(source.target).read_text, encoding="utf-8")
        try:
            described = yaml.safe_load(raw)
        except yaml.YAMLError as error:
            raise JunkError(dep, f"{dep}: {source.target} is neither JSON nor YAML") from error
        if not isinstance(described, dict) or "paths" not in described:
            raise FetchError(dep, f"{dep}: {source.target} is no OpenAPI description")
        return described


def parsed(answer: Any) -> Any:
    """A tool's text as JSON where it is JSON: most tools answer with a dump."""
    if isinstance(answer, str) and answer[:1] in "{[":
        try:
            return json.loads(answer)
        except ValueError:
            return answer
    return answer


def mcp_text(answer: Any) -> Any:
    """The text blocks of an MCP answer, each as JSON where it is JSON."""
    if isinstance(answer, list):
        blocks = [block.get("text", "") if isinstance(block, dict) else block for block in answer]
        return [parsed(block) for block in blocks if block]
    return parsed(answer)
