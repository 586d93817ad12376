"""The held-out sets of `bench classify` are well formed, use the procedure's own labels and repeat no example."""

import uuid
from collections import Counter
from typing import cast

import pytest
from langsmith.schemas import ExampleCreate

from sops import load_procedure
from tests.datasets.texts import SETS, all_examples, folded, held_out_rows

PROCEDURES = sorted(path.stem for path in SETS.glob("*.jsonl"))
MESSY = {"filler", "half", "asr", "none"}
LEAST_LINES = 150
LEAST_PER_STATE = 6
LEAST_MESSY = 0.45


def _part(row: dict[str, object], key: str) -> dict[str, str | None]:
    return cast(dict[str, str | None], row[key])


def test_there_are_sets_to_check() -> None:
    assert "insurance_renewal" in PROCEDURES


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_each_line_is_an_example_that_langsmith_takes(procedure: str) -> None:
    for row in held_out_rows(procedure):
        example = ExampleCreate.model_validate(row)
        assert example.split == ["test"]
        assert example.reference_outputs == row["reference_outputs"]
        assert set(row) == {"id", "inputs", "reference_outputs", "metadata", "split"}


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_labels_exist_in_the_procedure(procedure: str) -> None:
    loaded = load_procedure(procedure)
    for row in held_out_rows(procedure):
        inputs, labels = _part(row, "inputs"), _part(row, "reference_outputs")
        assert inputs["sop"] == procedure
        assert inputs["action"] is None or inputs["action"] in loaded.actions
        assert inputs.get("prev_state") is None or inputs["prev_state"] in loaded.states
        assert labels["state"] in loaded.states
        assert labels["mood"] in loaded.cohorts[str(labels["cohort"])].moods
        assert _part(row, "metadata")["messy"] in MESSY


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_set_is_large_messy_and_covers_every_state_and_cohort(procedure: str) -> None:
    loaded, rows = load_procedure(procedure), held_out_rows(procedure)
    assert len(rows) >= LEAST_LINES
    n_per_state = Counter(_part(row, "reference_outputs")["state"] for row in rows)
    assert {state: n_per_state[state] for state in loaded.states if n_per_state[state] < LEAST_PER_STATE} == {}
    assert {_part(row, "reference_outputs")["cohort"] for row in rows} == set(loaded.cohorts)
    n_messy = sum(_part(row, "metadata")["messy"] != "none" for row in rows)
    assert n_messy / len(rows) >= LEAST_MESSY


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_dialogues_are_whole_and_carry_the_state_before(procedure: str) -> None:
    before: dict[str, dict[str, object]] = {}
    for row in held_out_rows(procedure):
        metadata, labels = cast(dict[str, object], row["metadata"]), _part(row, "reference_outputs")
        dialogue, previous = str(metadata["dialogue"]), before.get(str(metadata["dialogue"]))
        if previous is None:
            assert metadata["turn"] == 1
            assert "prev_state" not in _part(row, "inputs")
        else:
            spoken = _part(previous, "reference_outputs")
            assert metadata["turn"] == cast(dict[str, int], previous["metadata"])["turn"] + 1
            assert _part(row, "inputs")["prev_state"] == spoken["state"]
            assert (labels["cohort"], labels["mood"]) == (spoken["cohort"], spoken["mood"])
        before[dialogue] = row


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_an_id_follows_from_dialogue_and_turn(procedure: str) -> None:
    for row in held_out_rows(procedure):
        place = cast(dict[str, object], row["metadata"])
        name = f"cuecard:classify:{procedure}:{place['dialogue']}:{place['turn']}"
        assert row["id"] == str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def test_ids_and_utterances_occur_once_over_all_sets() -> None:
    rows = [row for procedure in PROCEDURES for row in held_out_rows(procedure)]
    assert Counter(str(row["id"]) for row in rows).most_common(1)[0][1] == 1
    said = Counter((_part(row, "inputs")["sop"], folded(str(_part(row, "inputs")["utterance"]))) for row in rows)
    assert said.most_common(1)[0][1] == 1


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_no_utterance_is_an_example_of_any_procedure(procedure: str) -> None:
    known = {folded(text.said) for text in all_examples()}
    utterances = [str(_part(row, "inputs")["utterance"]) for row in held_out_rows(procedure)]
    assert [said for said in utterances if folded(said) in known] == []
