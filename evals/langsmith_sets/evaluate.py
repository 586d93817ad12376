"""Runs a dataset through LangSmith's `aevaluate`: offline by default, to LangSmith when asked and a key is there."""

import asyncio
import os
import warnings
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

from langsmith import Client, aevaluate
from langsmith.schemas import Example

from cuecard.clock import run_virtual
from cuecard.errors import CuecardError
from evals.calls.intervals import mean_interval
from evals.langsmith_sets.read import read_examples
from evals.langsmith_sets.targets import job_of

CREATED_AT = "2026-01-01T00:00:00Z"
"""LangSmith wants a date of every example; ours are files under version control."""

SLOW_CORPORA = ("insurance_fine", "insurance_large")
"""Embedding all of one takes minutes, so a quick look leaves them out."""


class NoKey(CuecardError):
    """An upload was asked for without a LangSmith key."""


def client() -> Client:
    """LangSmith's client from the environment; NoKey says what to set."""
    if not os.environ.get("LANGSMITH_API_KEY"):
        raise NoKey("--upload needs LANGSMITH_API_KEY (and LANGSMITH_ENDPOINT for a server of your own).")
    return Client()


def offline() -> Client:
    """A client that asks nobody anything: `info` is what it would have asked its server for."""
    return Client(api_url="http://localhost:9", api_key="offline", info={}, auto_batch_tracing=False)


def evaluate_dataset(dataset: str, *, at_most: int | None = None, upload: bool = False) -> dict[str, Any]:
    """Scores with n and 95 % intervals. Whole calls are replayed on virtual time."""
    examples = read_examples(dataset, split="later" if dataset == "calls" else None)
    if at_most is not None:
        examples = [row for row in examples if row["inputs"].get("corpus") not in SLOW_CORPORA]
        # Spread over the file, which is ordered by procedure.
        examples = examples[:: max(1, len(examples) // at_most)][:at_most]
    if upload:
        return asyncio.run(_evaluated(dataset, examples, client()))
    # LangSmith's own waiting for its uploader has no place on virtual time, so only offline runs are virtual.
    return run_virtual(_evaluated(dataset, examples, None))


async def _evaluated(dataset: str, rows: Sequence[dict[str, Any]], sender: Client | None) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        job = job_of(dataset, stack)
        data: Any = (
            [
                Example(
                    id=row["id"],
                    inputs=row["inputs"],
                    outputs=row["reference_outputs"],
                    metadata=row["metadata"],
                    dataset_id=UUID(int=0),
                    created_at=CREATED_AT,
                )
                for row in rows
            ]
            if sender is None
            else uploaded(sender, f"cuecard-{dataset}", rows)
        )
        with warnings.catch_warnings():
            # What keeps results at home is in LangSmith's beta; it has worked since 0.1.
            warnings.filterwarnings("ignore", message=".*upload_runs.* parameter is in beta")
            results = await aevaluate(
                job.target,
                data=data,
                evaluators=list(job.evaluators),
                max_concurrency=0,
                upload_results=sender is not None,
                experiment_prefix=f"cuecard-{dataset}",
                client=sender or offline(),
            )
        scores: dict[str, list[float]] = {}
        async for row in results:
            for one in row["evaluation_results"]["results"]:
                if one.score is not None:
                    scores.setdefault(one.key, []).append(float(one.score))
    return {"dataset": dataset, "n": len(rows), "uploaded": sender is not None, "scores": _summed(scores)}


def _summed(scores: dict[str, list[float]]) -> dict[str, Any]:
    return {
        key: {"mean": round(sum(values) / len(values), 4), "ci": list(mean_interval(values)), "n": len(values)}
        for key, values in scores.items()
    }


def uploaded(sender: Client, name: str, rows: Sequence[dict[str, Any]]) -> str:
    """The dataset's name, once it and its examples are in LangSmith; examples keep their ids, so twice is once."""
    if not sender.has_dataset(dataset_name=name):
        sender.create_dataset(name, description="Cuecard: simulated calls and labelled utterances")
    there = {str(example.id) for example in sender.list_examples(dataset_name=name)}
    new = [row for row in rows if row["id"] not in there]
    if new:
        sender.create_examples(dataset_name=name, examples=new)
    return name
