import re
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from evals.callers.traits import TRAITS
from evals.callers.wording import FOLDER, Wording, load_wording
from sops import Procedure, load_procedure

NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml") if path.stem != "common")
ROOT = Path(__file__).parents[2]
LABELLED = ROOT / "evals"
LEARNED_ONCE = ROOT / "cuecard" / "belief" / "speech_acts.txt"


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z']+", text.lower())
    return {tuple(words[n : n + 5]) for n in range(len(words) - 4)}


def _spoken(wording: Wording) -> Iterator[str]:
    for lines in wording.lines.values():
        yield from lines
    for goal in wording.goals.values():
        yield from (*goal.opens, *goal.insists)
    for fact in wording.facts.values():
        yield from fact.says
        for ways in fact.spoken.values():
            yield from ways
    yield from wording.questions


def _taught(procedure: Procedure) -> Iterator[str]:
    """What a classifier may have learned from: the examples in the procedure, and everyday speech acts."""
    yield from LEARNED_ONCE.read_text(encoding="utf-8").splitlines()
    for state in procedure.states.values():
        yield from state.examples
    for cohort in procedure.cohorts.values():
        yield from cohort.examples
        for mood in cohort.moods.values():
            yield from mood.examples


def _labelled() -> Iterator[str]:
    for path in (*LABELLED.glob("datasets/classify/**/*.jsonl"), *LABELLED.glob("classify/**/*.jsonl")):
        for line in path.read_bytes().splitlines():
            row = orjson.loads(line)
            yield str(row.get("inputs", row).get("utterance", ""))


@pytest.mark.parametrize("name", NAMES)
def test_no_five_words_in_a_row_are_shared_with_what_the_classifier_has_seen(name: str) -> None:
    seen: set[tuple[str, ...]] = set()
    for text in (*_taught(load_procedure(name)), *_labelled()):
        seen |= _runs(text)
    shared = {line: _runs(line) & seen for line in _spoken(load_wording(name)) if _runs(line) & seen}
    assert not shared


@pytest.mark.parametrize("name", NAMES)
def test_moods_and_facts_of_the_procedure_are_known_to_its_callers(name: str) -> None:
    procedure, wording = load_procedure(name), load_wording(name)
    asked = {fact for action in procedure.actions.values() for fact in action.asks}
    assert asked <= set(wording.facts)
    assert set(wording.offers) <= set(procedure.actions)
    moods = {mood for cohort in procedure.cohorts.values() for mood in cohort.moods}
    assert moods <= set(wording.traits)
    assert {trait for traits in wording.traits.values() for trait in traits} <= TRAITS
    cohorts = {cohort for goal in wording.goals.values() for cohort in goal.cohorts}
    assert cohorts <= set(procedure.cohorts)


def test_a_procedure_without_wording_gets_a_caller_who_wants_it_done() -> None:
    assert list(load_wording("no_such_procedure").goals) == ["get_it_done"]
