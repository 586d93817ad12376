"""Prometheus metrics, counted from the event logs. They name procedures, never tenants, sessions or words."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from cuecard.blackboard import Board
from cuecard.events import Decided, Degraded, Event, Listener, NeedResolved, PassEnded, SessionEnded, SessionStarted
from cuecard.prefetch.events import FetchEnded

_FIRST_WORD_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0, 4.0, 8.0)
_STALL_S = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)


_OUTCOMES = frozenset({"success", "declined", "handed_over", "failed", "abandoned"})


class Metrics:
    """A registry of its own, so that several gateways in one process (tests) do not mix."""

    def __init__(self, n_calls: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        sop = ["procedure"]
        self._calls = self._counter("calls_started", "Calls begun or taken over.", sop)
        self._ended = self._counter("calls_ended", "Calls that ended.", [*sop, "outcome"])
        self._turns = self._counter("turns", "Turns taken, by who decided.", [*sop, "tier"])
        self._needs = self._counter("needs", "Needs of turns, by how they were met.", [*sop, "how"])
        self._fetches = self._counter("fetches", "Fetches ended.", [*sop, "how", "background"])
        self._passes = self._counter("passes", "Supervisor passes ended.", [*sop, "how"])
        self._degraded = self._counter("degraded", "Failures a call went on without.", [*sop, "part"])
        self._stall = self._histogram("stall_seconds", "Waits for data, per need that had one.", sop, _STALL_S)
        self.first_word = self._histogram("first_word_seconds", "Request to first word.", sop, _FIRST_WORD_S)
        live = Gauge("cuecard_calls", "Calls open in this process.", registry=self.registry)
        live.set_function(lambda: float(n_calls()))

    def _counter(self, name: str, says: str, labels: list[str]) -> Counter:
        return Counter(f"cuecard_{name}", says, labels, registry=self.registry)

    def _histogram(self, name: str, says: str, labels: list[str], buckets: tuple[float, ...]) -> Histogram:
        return Histogram(f"cuecard_{name}", says, labels, registry=self.registry, buckets=buckets)

    def watch(self, board: Board) -> Listener:
        sop = board.kit.procedure.name

        def count(event: Event) -> None:
            match event:
                case Decided():
                    self._turns.labels(sop, event.tier).inc()
                case NeedResolved():
                    self._needs.labels(sop, event.how).inc()
                    if event.stall_s > 0.0:
                        self._stall.labels(sop).observe(event.stall_s)
                case FetchEnded():
                    self._fetches.labels(sop, event.how, str(event.background).lower()).inc()
                case PassEnded():
                    self._passes.labels(sop, event.how).inc()
                case Degraded():
                    self._degraded.labels(sop, event.part).inc()
                case SessionStarted():
                    self._calls.labels(sop).inc()
                case SessionEnded():
                    # Whoever hangs up may say anything as the outcome; only the known ones become labels.
                    self._ended.labels(sop, event.outcome if event.outcome in _OUTCOMES else "other").inc()

        return count

    def text(self) -> bytes:
        return generate_latest(self.registry)
