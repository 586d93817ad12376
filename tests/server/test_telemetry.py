"""Spans and structured logs tell times and reasons, and no words unless asked for."""

import asyncio
import io
import logging
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from cuecard.clock import run_virtual
from cuecard.prefetch.types import FetchCall, FetchResult
from cuecard.session import Engine
from cuecard.settings import Settings
from cuecard.telemetry import JsonFormatter, Telemetry, langsmith_by_key

CALLER = "hi, it's policy 343705 and I was born on 8 January 1942"


def had(settings: Settings, telemetry: Telemetry) -> None:
    """A short call, watched."""

    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            engine.services.watchers.append(telemetry.watch)
            telemetry.start()
            session = await engine.session("insurance_renewal", session_id="s-1")
            await session.ask(CALLER)
            await asyncio.sleep(10.0)
            await session.ask("about nine thousand miles a year")
            await asyncio.sleep(10.0)

    run_virtual(call())
    telemetry.close()


def test_spans_carry_times_and_reasons_and_no_words(settings: Settings) -> None:
    exporter = InMemorySpanExporter()
    had(settings, Telemetry(settings, exporter=exporter))
    spans: Any = exporter.get_finished_spans()
    names = {span.name.partition(" ")[0] for span in spans}
    assert {"turn", "pass", "predict", "need", "fetch"} <= names
    turn = next(span for span in spans if span.name == "turn")
    assert turn.attributes["session.id"] == "s-1"
    assert turn.attributes["action"]
    fetches = [span for span in spans if span.name.startswith("fetch")]
    assert any(span.attributes.get("reason") for span in fetches)
    assert any(span.parent is not None and span.parent.span_id == turn.context.span_id for span in spans)
    everything = " ".join(str(dict(span.attributes)) for span in spans)
    for secret in ("343705", "Gordon", "nine thousand", "8 January"):
        assert secret not in everything


def test_what_a_source_said_when_it_failed_stays_here_and_a_call_that_ended_leaves_nothing(settings: Settings) -> None:
    exporter = InMemorySpanExporter()
    telemetry = Telemetry(settings, exporter=exporter)

    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            engine.services.watchers.append(telemetry.watch)
            telemetry.start()
            kit = await engine.services.kit("insurance_renewal")
            session = await engine.session("insurance_renewal")

            async def breaks(call: FetchCall) -> FetchResult:
                raise KeyError(f"no row for {dict(call.args)}")

            kit.broker._attempts._fetchers = {"table": SimpleNamespace(fetch=breaks)}
            await session.ask(CALLER)
            await session.ask("goodbye")
            await session.hang_up()

    run_virtual(call())
    telemetry.close()
    spans: Any = exporter.get_finished_spans()
    told = [dict(event.attributes) for span in spans for event in span.events if event.name == "degraded"]
    assert {"part": "identity", "reason": "failed"} in told
    assert "343705" not in str(told)
    assert telemetry._spans is not None
    assert not telemetry._spans._calls


def test_words_go_along_when_content_is_asked_for(settings: Settings) -> None:
    exporter = InMemorySpanExporter()
    chosen = settings.model_copy(update={"log_content": True})
    had(chosen, Telemetry(chosen, exporter=exporter))
    assert "343705" in " ".join(str(dict(span.attributes or {})) for span in exporter.get_finished_spans())


def test_structured_logs_are_one_object_a_line_with_the_session(settings: Settings) -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("cuecard.events")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        chosen = settings.model_copy(update={"json_logs": True})
        had(chosen, Telemetry(chosen))
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    rows = [orjson.loads(line) for line in written.getvalue().splitlines()]
    assert {"Heard", "Decided", "Spoke", "FetchStarted"} <= {row["message"] for row in rows}
    assert {row["session_id"] for row in rows} == {"s-1"}
    assert "343705" not in written.getvalue()


def test_nothing_is_queued_while_it_is_off(settings: Settings) -> None:
    telemetry = Telemetry(settings)
    had(settings, telemetry)
    assert telemetry.on is False
    assert telemetry._queue.qsize() == 0


@pytest.mark.parametrize(
    ("environment", "traced"),
    [({}, "false"), ({"LANGSMITH_TRACING": "true"}, "false"), ({"LANGSMITH_API_KEY": "k"}, "true")],
)
def test_langsmith_traces_only_with_its_key(settings: Settings, environment: dict[str, str], traced: str) -> None:
    langsmith_by_key(settings, environment)
    assert environment["LANGSMITH_TRACING"] == traced
    assert environment.get("LANGSMITH_HIDE_INPUTS") == ("true" if traced == "true" else None)
