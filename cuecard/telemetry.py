"""Spans and structured logs as views of the event log: listeners only queue, a thread does the rest.

Off by default. Without `log_content` nothing a caller or the agent said, and no fact's value, leaves the process.
"""

import logging
import os
import queue
import threading
import time
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from cuecard.blackboard import Board
from cuecard.errors import CuecardError
from cuecard.events import (
    Believed,
    Decided,
    Degraded,
    Event,
    Forecasted,
    Heard,
    Listener,
    NeedResolved,
    PassEnded,
    SessionEnded,
    Spoke,
)
from cuecard.prefetch.events import FetchEnded, FetchPlanned, FetchStarted
from cuecard.settings import Settings

_CONTENT = {"text", "heard", "value", "utterances", "items", "key", "fetched_as", "item_id", "detail"}
"""Fields that may hold what somebody said or knows; arguments of fetches are facts too."""
MAX_WAITING = 50_000


class _Told(NamedTuple):
    wall_ns: int
    tenant: str
    session_id: str
    procedure: str
    event: Event


class Telemetry:
    """Give `watch` to every session's log, then `start`; `close` sends what is left."""

    def __init__(self, settings: Settings, *, exporter: Any = None) -> None:
        self._content = settings.log_content
        self._json = settings.json_logs
        self._spans = _Spans(exporter, content=self._content) if settings.otel or exporter is not None else None
        self._queue: queue.SimpleQueue[_Told | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._log = logging.getLogger("cuecard.events")

    @property
    def on(self) -> bool:
        return self._json or self._spans is not None

    def watch(self, board: Board) -> Listener:
        tenant, session_id, procedure = board.tenant, board.session_id, board.kit.procedure.name

        def listen(event: Event) -> None:
            if self._thread is not None and self._queue.qsize() < MAX_WAITING:
                self._queue.put(_Told(time.time_ns(), tenant, session_id, procedure, event))

        return listen

    def start(self) -> None:
        if self.on and self._thread is None:
            self._thread = threading.Thread(target=self._drain, name="telemetry", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Blocks until everything queued is out (or the exporter gives up)."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(timeout=10.0)
            self._thread = None
        if self._spans is not None:
            self._spans.close()

    def _drain(self) -> None:
        while (told := self._queue.get()) is not None:
            if self._json:
                about = {"tenant": told.tenant, "session_id": told.session_id, "procedure": told.procedure}
                self._log.info(
                    type(told.event).__name__, extra={"cuecard": about | fields_of(told.event, self._content)}
                )
            if self._spans is not None:
                self._spans.add(told)


def fields_of(event: Event, content: bool) -> dict[str, Any]:
    """The event's fields for a log line; without content only names, times and numbers."""
    row = event.to_json()
    row.pop("type")
    if isinstance(event, Degraded) and not content:
        # After the colon stands what a source or a model said, which may quote the caller.
        row["reason"] = event.reason.partition(":")[0]
    return row if content else {name: value for name, value in row.items() if name not in _CONTENT}


@dataclass(slots=True)
class _Call:
    """What is open of one session."""

    turn: Any = None
    turn_context: Any = None
    """Where the last turn's pass and fetches hang, also after it ended."""
    pass_began_ns: int = 0
    fetches: dict[tuple[str, str], tuple[int, FetchStarted]] = field(default_factory=dict)
    plans: dict[tuple[str, str], str] = field(default_factory=dict)


class _Spans:
    """A trace per turn: the turn with its needs, and the pass, prediction and fetches that followed from it."""

    def __init__(self, exporter: Any, *, content: bool) -> None:
        try:
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise CuecardError("Spans need the OpenTelemetry SDK: pip install 'cuecard[otel]'.") from error
        if exporter is None:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            exporter = OTLPSpanExporter()
        resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "cuecard")})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("cuecard")
        self._content = content
        self._calls: dict[tuple[str, str], _Call] = {}

    def close(self) -> None:
        self._provider.shutdown()

    def add(self, told: _Told) -> None:
        who = (told.tenant, told.session_id)
        call = self._calls.get(who) or _Call()
        if isinstance(told.event, Heard | Decided | FetchStarted):
            # Nothing is opened again for what still comes after the end: the last pass, fetches that are withdrawn.
            self._calls[who] = call
        match told.event:
            case Heard(final=True) | Decided():
                self._open_turn(call, told)
            case NeedResolved() as event:
                began_ns = told.wall_ns - int(event.stall_s * 1e9)
                self._span(f"need {event.dep}", call, told, began_ns, dict(_plain(event, self._content)))
            case Spoke(heard=None):
                self._close_turn(call, told)
            case Believed():
                call.pass_began_ns = told.wall_ns
            case Forecasted() as event:
                began_ns = told.wall_ns - int(event.ms * 1e6)
                best = {f"next.{n}": max(p, key=lambda a: p[a]) for n, p in enumerate(event.actions, 1) if p}
                self._span("predict", call, told, began_ns, {"by": event.by, "tokens": event.tokens, **best})
            case PassEnded() as event:
                began_ns = call.pass_began_ns or told.wall_ns - int(event.took_s * 1e9)
                self._span("pass", call, told, began_ns, dict(_plain(event, self._content)))
                call.pass_began_ns = 0
            case FetchPlanned(what="fetch" | "refresh") as event:
                call.plans[event.dep, event.key] = event.reason
            case FetchStarted() as event:
                call.fetches[event.dep, event.key] = told.wall_ns, event
            case FetchEnded() as event:
                self._fetch(call, told, event)
            case Degraded() as event if call.turn is not None:
                call.turn.add_event("degraded", dict(_plain(event, self._content)), told.wall_ns)
            case SessionEnded():
                self._calls.pop(who, None)

    def _open_turn(self, call: _Call, told: _Told) -> None:
        if call.turn is None:
            from opentelemetry import trace
            from opentelemetry.context import Context

            call.turn = self._tracer.start_span("turn", context=Context(), start_time=told.wall_ns)
            call.turn.set_attributes(_about(told))
            call.turn_context = trace.set_span_in_context(call.turn, Context())
        for name, value in _plain(told.event, self._content):
            call.turn.set_attribute(name, value)

    def _close_turn(self, call: _Call, told: _Told) -> None:
        if call.turn is not None:
            for name, value in _plain(told.event, self._content):
                call.turn.set_attribute("reply" if name == "text" else name, value)
            call.turn.end(told.wall_ns)
            call.turn = None

    def _fetch(self, call: _Call, told: _Told, event: FetchEnded) -> None:
        began_ns, started = call.fetches.pop((event.dep, event.key), (told.wall_ns - int(event.took_s * 1e9), None))
        attributes = dict(_plain(event, self._content))
        if started is not None:
            why = started.reason or call.plans.pop((event.dep, event.key), "")
            attributes |= {"origin": started.origin, "p_use": started.p_use, "value_s": started.value_s, "reason": why}
            attributes |= {"for_action": started.for_action, "for_offset": started.for_offset}
        self._span(f"fetch {event.dep}", call, told, began_ns, attributes)

    def _span(self, name: str, call: _Call, told: _Told, began_ns: int, attributes: dict[str, Any]) -> None:
        span = self._tracer.start_span(name, context=call.turn_context, start_time=began_ns)
        span.set_attributes(_about(told) | attributes)
        span.end(told.wall_ns)


def _about(told: _Told) -> dict[str, Any]:
    return {
        "session.id": told.session_id,
        "cuecard.tenant": told.tenant,
        "cuecard.procedure": told.procedure,
        "cuecard.turn": told.event.turn,
    }


def _plain(event: Event, content: bool) -> Iterator[tuple[str, Any]]:
    """Fields that fit into an attribute."""
    for name, value in fields_of(event, content).items():
        if isinstance(value, str | bool | int | float) and name not in {"at_s", "turn"}:
            yield name, value


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and what was given as `extra={"cuecard": {...}}`."""

    def format(self, record: logging.LogRecord) -> str:
        row = {"at": record.created, "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        if record.exc_info and record.exc_info[0] is not None:
            row["error"] = self.formatException(record.exc_info)
        row |= getattr(record, "cuecard", {})
        return orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS, default=str).decode()


def langsmith_by_key(settings: Settings, environment: MutableMapping[str, str]) -> bool:
    """Have LangChain trace to LangSmith exactly when a key is there; returns whether it will.

    Words go along only with `log_content`. What is set explicitly stays as it is, except tracing without a key.
    """
    if not (environment.get("LANGSMITH_API_KEY") or environment.get("LANGCHAIN_API_KEY")):
        environment["LANGSMITH_TRACING"] = "false"
        return False
    environment.setdefault("LANGSMITH_TRACING", "true")
    if not settings.log_content:
        environment.setdefault("LANGSMITH_HIDE_INPUTS", "true")
        environment.setdefault("LANGSMITH_HIDE_OUTPUTS", "true")
    return environment["LANGSMITH_TRACING"].lower() == "true"
