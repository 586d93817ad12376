"""A Python function as a data source."""

import asyncio
import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from cuecard.prefetch.fetchers.base import JunkError
from cuecard.prefetch.fetchers.text import summary_of
from cuecard.prefetch.types import FetchCall, FetchResult, Record
from sops.models import CallableFetch, Dependency


@lru_cache(maxsize=256)
def load_target(target: str) -> Any:
    """What `package.module:name` points to; imported when first needed."""
    module, _, name = target.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class CallableFetcher:
    """Calls `package.module:function` with the arguments by name.

    Beside the facts it gets `query` and `idempotency_key` where it has parameters of that name.
    A plain function runs in a thread, so that it can't hold the loop.
    """

    async def fetch(self, call: FetchCall) -> FetchResult:
        source = call.spec.fetch
        assert isinstance(source, CallableFetch)
        function: Callable[..., Any] = load_target(source.target)
        arguments = dict(call.args) | extras(function, call)
        if inspect.iscoroutinefunction(function):
            answer = await function(**arguments)
        else:
            answer = await asyncio.to_thread(function, **arguments)
        return result_of(call.dep, call.spec, answer)


def extras(function: Callable[..., Any], call: FetchCall) -> dict[str, Any]:
    """The parameters beside the facts that a function asks for by name."""
    wanted = inspect.signature(function).parameters
    offered = {"query": call.query, "idempotency_key": call.idempotency_key}
    return {name: value for name, value in offered.items() if name in wanted and name not in call.args}


def result_of(dep: str, spec: Dependency, answer: Any) -> FetchResult:
    """Records out of what people's functions, tools and APIs return: mappings, text, lists of either, or nothing."""
    if answer is None or answer == "":
        return FetchResult()
    if isinstance(answer, FetchResult):
        return answer
    if isinstance(answer, list | tuple):
        return FetchResult(tuple(record for part in answer for record in result_of(dep, spec, part).records))
    if isinstance(answer, Record):
        return FetchResult((answer,))
    if isinstance(answer, Mapping):
        data = {str(name): value for name, value in answer.items()}
        return FetchResult((Record(text=summary_of(spec, data), data=data, id=str(data.get("id") or "")),))
    if isinstance(answer, str | int | float | bool):
        return FetchResult((Record(text=str(answer), data={"text": answer}),))
    raise JunkError(dep, f"{dep} returned a {type(answer).__name__}; return a mapping, text, a list of them, or None")
