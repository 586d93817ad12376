"""One simulated call as the object that `cuecard call --json` prints."""

from typing import Any

from cuecard.ledger import percentile
from evals.calls.bench import NONE, OURS, Compared
from evals.calls.measures import Hidden, hidden, rows_of


def _pct(saved: Hidden) -> int:
    """Of one call; 100 where an oracle could hide nothing either, so that figures of calls can be read alike."""
    return saved.pct if saved.pct is not None else 100


def call_report(compared: Compared, policy: str = OURS) -> dict[str, Any]:
    """The call under `policy`, and how much of its waiting was hidden. The session's name says that it is simulated."""
    rows = rows_of(compared)
    row = next(row for row in rows if row.policy == policy)
    saved = hidden(rows, policy)
    played = compared.played[policy]
    return {
        "sop": row.sop,
        "session_id": played.ledger.session_id,
        "turns": row.turns,
        "outcome": row.outcome,
        "stall_s": round(row.stall_s, 3),
        "hideable_s": round(saved.hideable_s, 3),
        "hidden_s": round(saved.hidden_s, 3),
        "hidden_pct": _pct(saved) if policy != NONE else 0,
        "fetches": row.fetches,
        "wasted": row.wasted,
        "overhead_ms_p50": round(percentile(row.overhead_ms, 50), 2),
        "overhead_ms_p95": round(percentile(row.overhead_ms, 95), 2),
        "timeline": [turn.to_json() for turn in played.ledger.turns],
    }
