"""Plays scripts under each of several settings, on one engine, and adds up what was ready, waited for and wasted."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cuecard.clock import LoopClock
from cuecard.context import Context
from cuecard.ledger import percentile
from cuecard.predictors.counts import MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.garbage import GarbagePredictor
from cuecard.predictors.imagined_caller import SampledCaller
from cuecard.predictors.mcts import MCTSPredictor
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.predictors.types import Predictor
from cuecard.session import Engine
from cuecard.settings import Settings
from evals.calls.bench import NONE, ORACLE, OURS, future_of
from evals.calls.intervals import bootstrap_ratio
from evals.calls.play import Played, Replayed, play
from evals.calls.policies import POLICIES
from evals.replay.script import Script
from sops.loader import load_procedure
from sops.models import Procedure

NAIVE = {"all_at_identity": "all_at_identity", "refresh_all": "refresh_all", "partial": "partial_all"}
PREDICTORS: dict[str, Callable[[Procedure, random.Random], Predictor]] = {
    "graph": lambda procedure, rng: EmpiricalPredictor(MemoryCounts(), lambda _: ProcedurePrior(procedure)),
    "mcts": lambda procedure, rng: MCTSPredictor({procedure.name: procedure}.get, SampledCaller, rng),
    "garbage": lambda procedure, rng: GarbagePredictor({procedure.name: procedure}.get, rng),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to work ahead."""

    policy: str = OURS
    price_s: float | None = None
    predictor: str = ""
    """"" for the settings' own."""

    @property
    def name(self) -> str:
        price = "" if self.price_s is None else f" at {self.price_s:g} s a fetch"
        return f"{self.policy}{price}{f' with {self.predictor}' if self.predictor else ''}"


@dataclass(slots=True)
class Tally:
    """The books of all calls under one setting."""

    setting: Setting
    needs: Counter[str] = field(default_factory=Counter)
    stalls_s: list[float] = field(default_factory=list)
    worst_s: list[float] = field(default_factory=list)
    fetches: int = 0
    wasted: int = 0
    live: int = 0
    diverged: int = 0
    """Turns in which the agent did something else than with nothing fetched early."""


async def replay(
    scripts: Sequence[Script],
    settings_of: Sequence[Setting],
    *,
    procedure: str = "",
    settings: Settings | None = None,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> list[Tally]:
    """Every script under nothing, an oracle and each setting; the first two come first."""
    wanted = [Setting(NONE), Setting(ORACLE), *settings_of]
    tallies = [Tally(one) for one in wanted]
    async with Engine.open(settings, persist=False) as engine:
        for n, script in enumerate(scripts):
            sop = procedure or script.procedure
            first = await _played(engine, sop, script, Setting(NONE), None)
            for tally in tallies:
                again = (
                    first if tally.setting.policy == NONE else await _played(engine, sop, script, tally.setting, first)
                )
                _book(tally, again, first)
            advance(n + 1, len(scripts))
    return tallies


async def _played(engine: Engine, sop: str, script: Script, setting: Setting, first: Played | None) -> Played:
    declared = load_procedure(sop)
    rng = random.Random(f"{setting.name}/{script.name}")
    tenant = setting.name[:64]
    make = POLICIES.get(NAIVE.get(setting.policy, setting.policy))
    planner = make(declared, future_of(first), rng) if make is not None and first is not None else None
    if setting.predictor:
        predictor = PREDICTORS[setting.predictor](declared, rng)
        engine.services.minds.predict_with(tenant, declared.name, predictor)
    context = Context(tenant=tenant, prefetch="none" if setting.policy == NONE else "value", price_s=setting.price_s)
    session = await engine.session(sop, session_id=f"replay-{script.name}", context=context, planner=planner)
    session.board.kit.broker.forget_results()
    return await play(session, Replayed(script.turns), LoopClock())


def _book(tally: Tally, played: Played, first: Played) -> None:
    book = played.ledger
    tally.needs.update(book.needs)
    tally.stalls_s.append(book.stall_s)
    tally.worst_s.append(max((turn.stall_s for turn in book.turns), default=0.0))
    tally.fetches += book.fetches
    tally.wasted += book.wasted
    tally.live += book.live
    tally.diverged += sum(a != b for a, b in zip(first.actions, played.actions, strict=False))


def summary(tallies: Sequence[Tally], price_s: float) -> dict[str, Any]:
    """A row a setting, and which one to take at `price_s` seconds of stall a fetch."""
    none, oracle = tallies[0], tallies[1]
    rows = [_row(tally, none, oracle, price_s) for tally in tallies]
    return {
        "calls": len(none.stalls_s),
        "price_s": price_s,
        "settings": rows,
        "recommendation": recommendation(rows),
    }


def _row(tally: Tally, none: Tally, oracle: Tally, price_s: float) -> dict[str, Any]:
    saved = [a - b for a, b in zip(none.stalls_s, tally.stalls_s, strict=True)]
    hideable = [a - b for a, b in zip(none.stalls_s, oracle.stalls_s, strict=True)]
    below, n = sum(hideable), len(saved)
    interval = bootstrap_ratio(list(zip(saved, hideable, strict=True)), scale=100.0)
    return {
        "setting": tally.setting.name,
        "ready": tally.needs["ready"],
        "joined": tally.needs["joined"],
        "live": tally.needs["live"],
        "missing": tally.needs["missing"],
        "stall_s_per_call": round(sum(tally.stalls_s) / n, 3),
        "p95_turn_stall_s": round(percentile(tally.worst_s, 95), 3),
        "hidden_pct": round(100.0 * sum(saved) / below) if below > 0 else None,
        "hidden_pct_ci95": [None if x != x else x for x in interval],
        "fetches": round(tally.fetches / n, 2),
        "wasted": round(tally.wasted / n, 2),
        "net_s_per_call": round((sum(saved) - price_s * tally.fetches) / n, 3),
        "diverged_turns": tally.diverged,
        "n": n,
    }


SAME_S = 0.2
"""Net seconds a call within which two settings are as good as each other; the plainer one is then recommended."""
_PLAIN = (NONE, "all_at_identity", "partial", OURS)
"""From the plainest on."""


def recommendation(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The plainest setting within a hair of the best net saving; never the oracle, which nobody can have."""
    possible = [row for row in rows if not row["setting"].startswith((ORACLE, "garbage"))]
    best = max(row["net_s_per_call"] for row in possible)
    good = [row for row in possible if row["net_s_per_call"] >= best - SAME_S]
    chosen = min(good, key=lambda row: (_plainness(row["setting"]), -row["net_s_per_call"]))
    saves = f"{chosen['setting']} saves a net {chosen['net_s_per_call']:g} s a call"
    why = f"{saves}; the best of these settings saves {best:g} s"
    if chosen["setting"] == NONE:
        why = "nothing that could be fetched early is worth its price on these calls"
    return {"setting": chosen["setting"], "why": why}


def _plainness(name: str) -> int:
    base = name.split(" ")[0]
    return _PLAIN.index(base) if base in _PLAIN else len(_PLAIN)
