"""The measures of system.md over calls that were played under several policies. Everything here is simulated."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from cuecard.events import NeedResolved
from cuecard.ledger import percentile
from evals.calls.bench import NONE, ORACLE, OURS, Compared
from evals.calls.intervals import Interval, bootstrap_ratio, mean_interval, wilson
from evals.calls.play import Played
from sops.loader import load_procedure
from sops.models import RagFetch


@dataclass(slots=True)
class Row:
    """One call under one policy, as plain data: what experiments keep and reports are made from."""

    sop: str
    seed: int
    policy: str
    caller: str
    cohort: str
    mood: str
    goal: str
    outcome: str
    """success (the caller's goal, or a proper close for one who wanted to leave), or how it ended instead."""
    capped: bool
    turns: int
    stall_s: float
    turn_stall_s: list[float]
    fetches: int
    live: int
    wasted: int
    needs: dict[str, int]
    hits: list[int]
    """One a non-write need: turns its forecast was ahead, 0 for a miss."""
    tiers: dict[str, float]
    diverged: int
    overhead_ms: list[float] = field(default_factory=list)
    tokens: int = 0
    asked: int = 0
    """Questions with a known document that were answered from documents."""
    right: int = 0
    """Of these, answered from that document."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def rows_of(compared: Compared) -> list[Row]:
    """A row a policy. Success is judged where the words were spoken, and lost where the call then ends otherwise."""
    rows = []
    first = compared.played[NONE]
    declared = load_procedure(compared.sop).dependencies
    searches = frozenset(dep for dep, spec in declared.items() if isinstance(spec.fetch, RagFetch))
    for policy, played in compared.played.items():
        book, answers = played.ledger, answers_of(played, searches)
        same_end = played.outcome == first.outcome
        outcome = "success" if compared.reached and same_end else "turn_cap" if played.capped else played.outcome
        if outcome == "success" and not compared.reached:
            # The procedure succeeded for somebody who wanted something else.
            outcome = "unwanted"
        rows.append(
            Row(
                sop=compared.sop,
                seed=compared.seed,
                policy=policy,
                caller=compared.caller,
                cohort=compared.agenda.cohort,
                mood=compared.agenda.mood,
                goal=compared.agenda.goal,
                outcome=outcome,
                capped=played.capped,
                turns=len(book.turns),
                stall_s=book.stall_s,
                turn_stall_s=[round(turn.stall_s, 3) for turn in book.turns],
                fetches=book.fetches,
                live=book.live,
                wasted=book.wasted,
                needs=dict(sorted(book.needs.items())),
                hits=book.hits,
                tiers=book.tiers,
                diverged=compared.diverged(policy),
                overhead_ms=[round(ms, 2) for ms in played.overhead_ms],
                tokens=book.tokens,
                asked=len(answers),
                right=sum(answers),
            )
        )
    return rows


def answers_of(played: Played, searches: frozenset[str]) -> list[bool]:
    """Of each question with a known document that documents answered: whether they were the right ones.

    Waiting hidden behind another document is worth nothing, so every policy's row says how often it was right.
    """
    gold = {n + 2: turn.gold for n, turn in enumerate(played.turns) if turn.gold}
    needs = (event for event in played.events if isinstance(event, NeedResolved) and event.dep in searches)
    return [need.item_id in gold[need.turn] for need in needs if need.turn in gold]


class Hidden(NamedTuple):
    """Seconds of waiting hidden, out of those an oracle with the same pipes would hide."""

    hidden_s: float
    hideable_s: float
    regret_s: float

    @property
    def pct(self) -> int | None:
        """None where there was nothing to hide."""
        return round(100.0 * self.hidden_s / self.hideable_s) if self.hideable_s > 0.0 else None


def hidden(rows: Sequence[Row], policy: str = OURS) -> Hidden:
    """Sums over all calls in `rows`, which must hold the rows of `none`, `oracle` and `policy`."""
    total = Counter[str]()
    for row in rows:
        total[row.policy] += row.stall_s  # type: ignore[assignment]
    return Hidden(total[NONE] - total[policy], total[NONE] - total[ORACLE], total[policy] - total[ORACLE])


def hidden_interval(rows: Sequence[Row], policy: str = OURS) -> Interval:
    """95 % interval of hidden_pct, by resampling calls."""
    stall: dict[int, dict[str, float]] = {}
    for row in rows:
        stall.setdefault(row.seed, {})[row.policy] = row.stall_s
    pairs = [(by[NONE] - by[policy], by[NONE] - by[ORACLE]) for by in stall.values() if ORACLE in by]
    return bootstrap_ratio(pairs, scale=100.0)


def summary(rows: Sequence[Row], policy: str = OURS) -> dict[str, Any]:
    """The report of `cuecard calls`: rates with n and 95 % intervals."""
    ours = [row for row in rows if row.policy == policy]
    n = len(ours)
    successes = sum(row.outcome == "success" for row in ours)
    capped = sum(row.capped for row in ours)
    tiers: Counter[str] = Counter()
    for row in ours:
        for tier, share in row.tiers.items():
            tiers[tier] += share * row.turns  # type: ignore[assignment]
    decided = sum(tiers.values())
    overheads = [ms for row in ours for ms in row.overhead_ms]
    stalls = [row.stall_s for row in ours]
    worst = [max(row.turn_stall_s, default=0.0) for row in ours]
    return {
        "success_rate": _rounded(successes / n if n else math.nan),
        "turns_mean": _rounded(sum(row.turns for row in ours) / n if n else math.nan),
        "turn_cap_rate": _rounded(capped / n if n else math.nan),
        "tier_share": {tier: _rounded(share / decided) for tier, share in sorted(tiers.items())},
        "hidden_pct": hidden(rows, policy).pct,
        "stall_s_mean": _rounded(sum(stalls) / n if n else math.nan),
        "n": n,
        "ci95": {
            "success_rate": list(wilson(successes, n)),
            "turn_cap_rate": list(wilson(capped, n)),
            "turns_mean": list(mean_interval([float(row.turns) for row in ours])),
            "hidden_pct": list(hidden_interval(rows, policy)),
            "stall_s_mean": list(mean_interval(stalls)),
        },
        "p95_turn_stall_s": _rounded(percentile(worst, 95)),
        "fetches_mean": _rounded(sum(row.fetches for row in ours) / n if n else math.nan),
        "wasted_mean": _rounded(sum(row.wasted for row in ours) / n if n else math.nan),
        "hit_at": {str(k): hit_at(ours, k) for k in (1, 2, 3)},
        "right_document": right_document(ours),
        "right_document_live": right_document([row for row in rows if row.policy == NONE]),
        "overhead_ms_p50": _rounded(percentile(overheads, 50)),
        "overhead_ms_p95": _rounded(percentile(overheads, 95)),
        "diverged": sum(row.diverged for row in ours),
        "outcomes": dict(sorted(Counter(row.outcome for row in ours).items())),
        "caller": ", ".join(sorted({row.caller for row in ours})),
        "data": "simulated",
    }


def right_document(rows: Sequence[Row]) -> dict[str, Any]:
    """Questions answered from documents, and the share answered from one that is known to hold the answer."""
    right, n = sum(row.right for row in rows), sum(row.asked for row in rows)
    return {"rate": _rounded(right / n) if n else None, "n": n, "ci95": list(wilson(right, n))}


def hit_at(rows: Sequence[Row], k: int) -> dict[str, Any]:
    """Share of non-write needs found ready from a forecast at least `k` agent turns old."""
    leads = [lead for row in rows for lead in row.hits]
    hits = sum(lead >= k for lead in leads)
    return {
        "rate": _rounded(hits / len(leads)) if leads else None,
        "n": len(leads),
        "ci95": list(wilson(hits, len(leads))),
    }


def _rounded(value: float) -> float:
    return round(value, 3)
