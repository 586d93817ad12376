"""Working ahead: what to fetch, when, for whom, and how it is kept safe."""

from cuecard.prefetch.broker import FetchBroker, Sink
from cuecard.prefetch.flight import Flight, SessionId
from cuecard.prefetch.instructions import Fit, fits, instruction
from cuecard.prefetch.jobs import Known, Wish, is_query, job_for
from cuecard.prefetch.limits import Limits
from cuecard.prefetch.partials import PartialListener, Words
from cuecard.prefetch.scheduler import Decision, Scheduler
from cuecard.prefetch.types import (
    FetchCall,
    Fetched,
    FetchJob,
    FetchKey,
    FetchResult,
    Item,
    Missing,
    Outcome,
    Record,
    canonical,
    owner_of,
)
from cuecard.prefetch.writes import MemoryWriteLedger, SqliteWriteLedger, WriteLedger

__all__ = [
    "Decision",
    "FetchBroker",
    "FetchCall",
    "FetchJob",
    "FetchKey",
    "FetchResult",
    "Fetched",
    "Fit",
    "Flight",
    "Item",
    "Known",
    "Limits",
    "MemoryWriteLedger",
    "Missing",
    "Outcome",
    "PartialListener",
    "Record",
    "Scheduler",
    "SessionId",
    "Sink",
    "SqliteWriteLedger",
    "Wish",
    "Words",
    "WriteLedger",
    "canonical",
    "fits",
    "instruction",
    "is_query",
    "job_for",
    "owner_of",
]
