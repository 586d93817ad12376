"""No run of five words is shared between examples, held-out utterances and the wording of simulated callers.

A failure prints the run's line on one side only, so that whoever rewords it need not see what the other side says.
Reword the line; this file is not the place to make room for it.
"""

import pytest

from tests.datasets.texts import Text, all_examples, caller_wording, held_out, runs

N_WORDS = 5

COMMON_RUNS = frozenset[str]()
"""Runs that carry no wording of anyone's own, each with its reason. None has been needed."""

NUMBER_WORDS = runs(
    """
    oh zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand double triple and
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth thirtieth
    january february march april may june july august september october november december the of
    """,
    n_words=1,
)
"""A run of these alone is a number or a date read out, which is the format of a fact and nobody's wording."""


def _is_wording(run: str) -> bool:
    return run not in COMMON_RUNS and not all(word in NUMBER_WORDS or word[0].isdigit() for word in run.split())


def shared_runs(mine: list[Text], theirs: list[Text]) -> list[str]:
    """My lines that share a run with theirs, with the run; nothing of their line beyond it."""
    known = {run for text in theirs for run in runs(text.said, N_WORDS)}
    return [
        f"{text.where}: {text.said!r} shares {run!r}"
        for text in mine
        for run in sorted(runs(text.said, N_WORDS) & known)
        if _is_wording(run)
    ]


def test_a_shared_run_is_found_through_case_punctuation_and_fillers_between_clauses() -> None:
    mine = [Text("mine:1", "Well, I'd LIKE to -- see it on paper.")]
    assert len(shared_runs(mine, [Text("theirs:1", "she'd say i'd like to see it")])) == 1
    assert shared_runs(mine, [Text("theirs:2", "I'd like to {verb} it on paper")]) == []


def test_numbers_and_dates_read_out_are_nobodys_wording() -> None:
    mine = [Text("mine:1", "nine eight two four three, the third of may nineteen sixty")]
    theirs = [Text("theirs:1", "It's nine eight two four three and the third of May nineteen sixty")]
    assert shared_runs(mine, theirs) == []


def test_held_out_utterances_share_no_run_with_the_examples() -> None:
    shared = shared_runs(held_out(), all_examples())
    assert not shared, "\n".join(shared)


def test_held_out_utterances_share_no_run_with_simulated_callers() -> None:
    wording = caller_wording()
    if not wording:
        pytest.skip("there are no simulated callers yet")
    shared = shared_runs(held_out(), wording)
    assert not shared, "\n".join(shared)


def test_simulated_callers_share_no_run_with_the_examples() -> None:
    wording = caller_wording()
    if not wording:
        pytest.skip("there are no simulated callers yet")
    shared = shared_runs(wording, all_examples())
    assert not shared, "\n".join(shared)
