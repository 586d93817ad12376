"""Runs every policy on every world and seed, and puts the rows side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from cuecard.clock import LoopClock, run_virtual
from cuecard.prefetch.allowance import Allowance
from evals.worlds.play import PARTIAL_RECALL, Jobs, Played, Policy, Stage
from evals.worlds.policies import Ours, garbage, ours
from evals.worlds.rules import POPULAR, Counts, ExpectedValue, NextActions, Nothing, Oracle, Rule
from evals.worlds.world import WORLDS, Need, Turn, World

TRAINING_CALLS = TEST_CALLS = 300
CALLS_SEED, PARTIALS_SEED = 11, 5
PRICES = (0.0, 0.1, 0.5)
LOOK_AHEADS = (1, 2, 3, 4)
FIELDS = (
    "hidden_pct",
    "stall_s_per_call",
    "regret_s",
    "p95_turn_stall_s",
    "fetches",
    "wasted",
    "unused",
    "live",
    "net_0",
    "net_0.1",
    "net_0.5",
    "stale_serves",
)


class Task(NamedTuple):
    world: str
    seed: int
    policies: tuple[str, ...]
    allowance: Allowance
    price_s: float
    explore: bool = False


@dataclass(frozen=True)
class Scripts:
    """The same calls, and the same luck with partial transcripts, for every policy."""

    training: Sequence[Sequence[Turn]]
    test: Sequence[Sequence[Turn]]
    hears: Sequence[Sequence[bool]]


def scripts(world: World) -> Scripts:
    dice, luck = np.random.default_rng(CALLS_SEED), np.random.default_rng(PARTIALS_SEED)
    training = [world.call(dice) for _ in range(TRAINING_CALLS)]
    test = [world.call(dice) for _ in range(TEST_CALLS)]
    return Scripts(training, test, [[bool(luck.random() < PARTIAL_RECALL) for _ in call[1:]] for call in test])


Make = Callable[[Sequence[Turn]], Policy]
"""A policy for one call; only the oracle looks at it."""


def makers(world: World, training: Sequence[Sequence[Turn]], task: Task) -> Mapping[str, Callable[[], Make]]:
    """Policies by name, each made (and trained) only when it is run."""
    wait_s = world.shape.supervisor_s
    records = [Need("record", int(n)) for n in np.argsort(-world.record_s)]

    def fixed(policy: Policy) -> Make:
        return lambda call: policy

    def counts() -> Counts:
        return Counts(world, training)

    def popular() -> list[Need]:
        return records + [Need("question", n) for n in counts().popular(POPULAR)]

    @cache
    def trained() -> Ours:
        return ours(world, training, task.price_s, task.allowance)

    def nonsense() -> Policy:
        return garbage(trained())

    def mine() -> Policy:
        policy = replace(trained())
        policy.dice = np.random.default_rng(task.seed) if task.explore else None
        return policy

    return {
        "ours": lambda: fixed(mine()),
        "none": lambda: fixed(Nothing(wait_s)),
        "all_at_identity": lambda: fixed(Rule(wait_s, needs=records)),
        "all_plus_top20": lambda: fixed(Rule(wait_s, needs=popular())),
        "refresh_all": lambda: fixed(Rule(wait_s, needs=records, every_turn=True)),
        "next_action": lambda: fixed(NextActions(wait_s, counts=counts())),
        "all_partial": lambda: fixed(Rule(wait_s, hears_partials=True, needs=records)),
        "ev": lambda: fixed(ExpectedValue(wait_s, counts=counts())),
        "ev_partial": lambda: fixed(ExpectedValue(wait_s, hears_partials=True, counts=counts())),
        "garbage": lambda: fixed(nonsense()),
    }


POLICIES = (
    "ours",
    "none",
    "all_at_identity",
    "all_plus_top20",
    "refresh_all",
    "next_action",
    "all_partial",
    "ev",
    "ev_partial",
    "garbage",
    "oracle",
)


def play_all(world: World, script: Scripts, make: Make) -> list[Played]:
    """Every test call, one after the other on one virtual clock."""
    jobs = Jobs(world)

    async def run() -> list[Played]:
        clock = LoopClock()
        return [
            await Stage(world, jobs, clock, make(call), hears).run(call)
            for call, hears in zip(script.test, script.hears, strict=True)
        ]

    return run_virtual(run())


def play_oracle(world: World, script: Scripts) -> list[Played]:
    """The oracle with the look-ahead that serves it best; without expiry it fetches for the whole call."""
    looks: Sequence[int | None] = (None,) if world.shape.ttl_s > 1e8 else LOOK_AHEADS
    runs = []
    for look in looks:
        runs.append(play_all(world, script, lambda call, look=look: Oracle(call=call, look_ahead=look)))  # type: ignore[misc]
    return min(runs, key=mean_stall_s)


def mean_stall_s(played: Sequence[Played]) -> float:
    return float(np.mean([sum(one.stalls_s) for one in played]))


def run_task(task: Task) -> tuple[Task, dict[str, dict[str, float]]]:
    """All policies on one world and seed."""
    world = World(WORLDS[task.world], task.seed)
    script = scripts(world)
    make = makers(world, script.training, task)
    played = {name: play_all(world, script, make[name]()) for name in task.policies if name != "oracle"}
    played["oracle"] = play_oracle(world, script)
    none_s, oracle_s = mean_stall_s(played["none"]), mean_stall_s(played["oracle"])
    return task, {name: _row(played[name], none_s, oracle_s) for name in task.policies}


def _row(played: Sequence[Played], none_s: float, oracle_s: float) -> dict[str, float]:
    stall_s = mean_stall_s(played)
    hidden_s = none_s - stall_s
    fetches = float(np.mean([one.fetches for one in played]))
    return {
        "hidden_pct": 100.0 * hidden_s / max(1e-9, none_s - oracle_s),
        "stall_s_per_call": stall_s,
        "regret_s": stall_s - oracle_s,
        "p95_turn_stall_s": float(np.percentile([s for one in played for s in one.stalls_s], 95)),
        "fetches": fetches,
        "wasted": float(np.mean([one.wasted for one in played])),
        "unused": float(np.mean([one.unused for one in played])),
        "live": float(np.mean([one.live for one in played])),
        **{f"net_{price:g}": hidden_s - price * fetches for price in PRICES},
        "stale_serves": float(sum(one.stale for one in played)),
    }


def bench(
    worlds: Sequence[str],
    seeds: Sequence[int],
    *,
    allowance: Allowance,
    price_s: float = 0.0,
    explore: bool = False,
    processes: int = 2,
    policies: Sequence[str] = POLICIES,
    on_done: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """{world: {policy: fields}}: medians over seeds, with the lowest and highest as `<field>_range`."""
    tasks = [Task(world, seed, tuple(policies), allowance, price_s, explore) for world in worlds for seed in seeds]
    rows: dict[str, list[dict[str, dict[str, float]]]] = {world: [] for world in worlds}
    for task, found in _run(tasks, processes):
        rows[task.world].append(found)
        on_done()
    return {world: _summary(found, policies) for world, found in rows.items()}


def _run(tasks: Sequence[Task], processes: int) -> Iterator[tuple[Task, dict[str, dict[str, float]]]]:
    if processes < 2 or len(tasks) < 2:
        yield from map(run_task, tasks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(run_task, tasks)


def _summary(seeds: Sequence[dict[str, dict[str, float]]], policies: Sequence[str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for policy in policies:
        row: dict[str, Any] = {}
        for name in FIELDS:
            values = [seed[policy][name] for seed in seeds]
            row[name] = round(float(np.median(values)), 2)
            row[f"{name}_range"] = [round(min(values), 2), round(max(values), 2)]
        out[policy] = row
    best = max((out[name]["net_0.1"], name) for name in policies if name not in ("ours", "oracle"))
    mine = out["ours"]["net_0.1"] if "ours" in out else 0.0
    out["ours_against_best_other"] = {"best_other": best[1], "net_0.1_lead": round(mine - best[0], 2)}
    return out
