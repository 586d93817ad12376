"""A small recorded run in a folder of its own, made as the runner makes one."""

import shutil
from pathlib import Path

from evals.calls.measures import Row
from evals.experiments.bars import bar_path, sha256_of
from evals.experiments.check import write_report
from evals.experiments.results import Header, Results, begin
from evals.experiments.shared.compared import kept

POLICIES = {"none": (9.0, 0, 0), "all_at_identity": (4.0, 9, 5), "ours": (3.0, 6, 2), "oracle": (2.0, 4, 0)}
"""Stall, fetches and waste of each."""
BEGUN_AT = 1_790_000_000.0


def call_row(seed: int, policy: str) -> Row:
    stall_s, fetches, wasted = POLICIES[policy]
    return Row(
        sop="insurance_renewal",
        seed=seed,
        policy=policy,
        caller="agenda",
        cohort="loyal_renewer",
        mood="content",
        goal="renew",
        outcome="success",
        capped=False,
        turns=3,
        stall_s=stall_s + seed,
        turn_stall_s=[0.0, stall_s + seed, 0.0],
        fetches=fetches,
        live=2,
        wasted=wasted,
        needs={"ready": 2, "live": 1},
        hits=[2, 1, 0] if policy == "ours" else [0, 0, 0],
        tiers={"rules": 1.0},
        diverged=0,
        overhead_ms=[3.0, 4.0],
    )


def recorded_run(experiments: Path, name: str = "E8", calls: int = 3) -> Path:
    """A folder of experiments that holds one run with its bar, rows and report; returns the run's folder."""
    bar = bar_path(name, experiments)
    bar.parent.mkdir(parents=True)
    shutil.copy(bar_path(name), bar)
    header = Header(name, sha256_of(bar), "hash", "", None, BEGUN_AT, "0123456789ab")
    results: Results = begin(bar.with_name("results.jsonl"), header)
    for seed in range(calls):
        rows = [kept(call_row(seed, policy)) for policy in POLICIES]
        results.append(f"insurance_renewal/{seed:07d}", rows, BEGUN_AT + 1.0 + seed)
    write_report(bar.parent, results, experiments)
    return bar.parent
