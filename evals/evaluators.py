"""Evaluators as plain functions with LangSmith's signatures: use them offline, in LangSmith, or in your own tests.

Each takes `outputs` and `reference_outputs` (some `inputs` too) and gives a score between 0 and 1, higher is better
unless its name says otherwise. None where there is nothing to judge: LangSmith then leaves the example out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Outputs = Mapping[str, Any]


def next_action_top1(outputs: Outputs, reference_outputs: Outputs) -> dict[str, Any]:
    """The likeliest next action was the one taken."""
    return {"key": "next_action_top1", "score": _within(outputs["actions"][:1], reference_outputs["actions"][:1], 1)}


def next_action_top3(outputs: Outputs, reference_outputs: Outputs) -> dict[str, Any]:
    """The action taken was among the three likeliest."""
    return {"key": "next_action_top3", "score": _within(outputs["actions"][:1], reference_outputs["actions"][:1], 3)}


def source_top1(outputs: Outputs, reference_outputs: Outputs) -> dict[str, Any]:
    """The likeliest data source of the next turn that consults one; not judged where it consults none."""
    wanted = reference_outputs["sources"][:1]
    named = [[name for name in ranked if name] for ranked in outputs["sources"][:1]]
    return {"key": "source_top1", "score": _within(named, wanted, 1) if wanted and wanted[0] else None}


def state_accuracy(outputs: Outputs, reference_outputs: Outputs) -> dict[str, Any]:
    """The state named first is the labelled one."""
    return {"key": "state_accuracy", "score": float(outputs["states"][:1] == [reference_outputs["state"]])}


def state_top3(outputs: Outputs, reference_outputs: Outputs) -> dict[str, Any]:
    return {"key": "state_top3", "score": float(reference_outputs["state"] in outputs["states"][:3])}


def document_recall_at_3(outputs: Outputs, reference_outputs: Outputs) -> dict[str, Any]:
    """One of the documents that answer the question is among the first three."""
    return {"key": "document_recall_at_3", "score": _any(outputs["doc_ids"][:3], reference_outputs["doc_ids"])}


def gold_in_picks(inputs: Outputs, outputs: Outputs, reference_outputs: Outputs) -> dict[str, Any]:
    """The picks hold an item that answers; not judged where the pool holds none."""
    gold = set(reference_outputs["item_ids"])
    there = gold & {item["id"] for item in inputs["items"]}
    return {"key": "gold_in_picks", "score": _any(outputs["picks"], gold) if there else None}


def nothing_shown_when_nothing_fits(outputs: Outputs, reference_outputs: Outputs) -> dict[str, Any]:
    """A turn that needs no item was shown none; not judged on the others."""
    return {
        "key": "nothing_shown_when_nothing_fits",
        "score": None if reference_outputs["item_ids"] else float(not outputs["picks"]),
    }


def goal_reached(outputs: Outputs) -> dict[str, Any]:
    """The caller got what they wanted, or a proper close when they wanted to leave."""
    return {"key": "goal_reached", "score": float(bool(outputs["reached"]))}


def same_steps(outputs: Outputs, reference_outputs: Outputs) -> dict[str, Any]:
    """The agent took the recorded steps on the recorded words: share of turns up to the longer call."""
    ours, theirs = outputs["actions"], [turn["action"] for turn in reference_outputs["turns"]]
    same = sum(a == b for a, b in zip(ours, theirs, strict=False))
    return {"key": "same_steps", "score": same / max(1, len(ours), len(theirs))}


def waiting_s(outputs: Outputs) -> dict[str, Any]:
    """Seconds the caller waited in the call. Lower is better, and it is not a share."""
    return {"key": "waiting_s", "score": float(outputs["stall_s"])}


def _within(ranked: Sequence[Sequence[str]], wanted: Sequence[str], k: int) -> float | None:
    if not wanted:
        return None
    return float(bool(ranked) and wanted[0] in list(ranked[0])[:k])


def _any(found: Sequence[str], gold: Any) -> float:
    return float(bool(set(found) & set(gold)))
