"""Sends an experiment's recorded rows to LangSmith as a dataset, a run each and its figures as feedback."""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langsmith import evaluate

from evals.experiments.results import Results
from evals.langsmith_sets.evaluate import client, uploaded

_IDENTITY = ("unit", "sop", "seed", "policy", "price_s", "predictor", "turn", "mode")


def examples_of(name: str, results: Results) -> list[dict[str, Any]]:
    """A recorded row as an example: what was played in, what was recorded as reference."""
    rows = []
    for n, row in enumerate(results.measured):
        rows.append(
            {
                "id": str(uuid5(NAMESPACE_URL, f"cuecard/{name}/{row['unit']}/{n}")),
                "inputs": {key: row[key] for key in _IDENTITY if key in row} | {"row": n},
                "reference_outputs": {key: value for key, value in row.items() if key not in _IDENTITY},
                "metadata": {"experiment": name, "code": results.header.code, "bar": results.header.bar_sha256[:16]},
                "split": ["recorded"],
            }
        )
    return rows


def recorded_figures(outputs: dict[str, Any]) -> dict[str, Any]:
    """Every number of a recorded row as a score of its own."""
    found = [
        {"key": key, "score": float(value)} for key, value in outputs.items() if isinstance(value, int | float | bool)
    ]
    return {"results": found}


def upload_results(name: str, results: Results) -> int:
    """How many rows were sent; NoKey without a key."""
    sender = client()
    rows = examples_of(name, results)
    dataset = uploaded(sender, f"cuecard-{name}", rows)
    recorded = {row["inputs"]["row"]: row["reference_outputs"] for row in rows}

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return dict(recorded[inputs["row"]])

    evaluate(
        target,
        data=dataset,
        evaluators=[recorded_figures],
        experiment_prefix=f"cuecard-{name}",
        client=sender,
        max_concurrency=0,
        metadata={"bar": results.header.bar_sha256[:16], "code": results.header.code},
    )
    return len(rows)
