from pathlib import Path

import numpy as np
import orjson
import pytest

from cuecard.belief.types import Belief
from evals.classify import read_examples, score
from evals.classify.examples import DatasetError, Example, shipped_sets
from evals.classify.scores import Rate, auc, expected_calibration_error
from sops import Procedure, load_procedure

FLAT = {"sop": "insurance_renewal", "utterance": "yes please", "state": "agrees"}


def written(path: Path, *rows: object) -> Path:
    path.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    return path


def test_flat_lines_and_langsmiths_shape_say_the_same(tmp_path: Path) -> None:
    shaped = {
        "id": "x1",
        "inputs": {"sop": "insurance_renewal", "action": "greet", "utterance": "yes please"},
        "reference_outputs": {"state": "agrees", "mood": "brisk"},
        "metadata": {"dialogue": 7, "turn": 2},
        "split": "test",
    }
    flat, told = read_examples(written(tmp_path / "a.jsonl", FLAT, shaped))
    assert (flat.utterance, flat.state, flat.action) == (told.utterance, told.state, None)
    assert (told.action, told.mood, told.dialogue, told.order) == ("greet", "brisk", "7", 2.0)


@pytest.mark.parametrize("row", [{"sop": "x"}, [], "words", {**FLAT, "utterance": 3}])
def test_a_line_that_is_no_example_is_named_by_file_and_number(tmp_path: Path, row: object) -> None:
    with pytest.raises(DatasetError, match=r"a\.jsonl:2"):
        list(read_examples(written(tmp_path / "a.jsonl", FLAT, row)))


def test_a_label_the_procedure_does_not_have_is_an_error(procedure: Procedure) -> None:
    wrong = Example(sop=procedure.name, utterance="yes", state="levitates")
    with pytest.raises(DatasetError, match="levitates"):
        score(procedure, [wrong], lambda text, action, prior: Belief(state={"agrees": 1.0}))


def test_change_figures_count_only_turns_with_neighbours(procedure: Procedure) -> None:
    """A judge that always says "agrees" and expects change only after a question."""

    def judge(text: str, action: str | None, prior: Belief) -> Belief:
        return Belief(state={"agrees": 0.8, "declines": 0.2}, p_change=0.9 if text == "q" else 0.1)

    said = [("q", "asks_question"), ("yes", "agrees"), ("yes", "agrees"), ("q", "asks_question"), ("no", "declines")]
    call = [
        Example(sop=procedure.name, utterance=text, state=state, dialogue="d", order=i)
        for i, (text, state) in enumerate(said)
    ]
    scores = score(procedure, [*call, Example(sop=procedure.name, utterance="yes", state="agrees")], judge)
    assert scores.state_acc.value == pytest.approx(3 / 6)
    assert scores.transition_recall.value == pytest.approx(1 / 3)
    assert scores.transition_recall.n == 3
    assert scores.auc_change.value == pytest.approx(5 / 6)
    assert scores.auc_change.n == 4
    assert scores.mood_acc.n == 0
    assert scores.to_json()["mood_acc"] is None


def test_the_belief_is_carried_along_a_dialogue_in_its_order(procedure: Procedure) -> None:
    seen: list[tuple[str, float]] = []

    def judge(text: str, action: str | None, prior: Belief) -> Belief:
        seen.append((text, prior.p_change))
        return Belief(state={"agrees": 1.0}, p_change=len(text) / 10)

    rows = [
        Example(sop=procedure.name, utterance=text, state="agrees", dialogue="d", order=order)
        for text, order in [("ccc", 3), ("a", 1), ("bb", 2)]
    ]
    score(procedure, rows, judge)
    assert seen == [("a", 0.5), ("bb", 0.1), ("ccc", 0.2)]


def test_calibration_error_is_the_gap_between_confidence_and_accuracy() -> None:
    sure = np.array([0.95] * 10)
    assert expected_calibration_error(sure, np.array([True] * 5 + [False] * 5)) == pytest.approx(0.45)
    assert expected_calibration_error(np.array([0.5, 0.5]), np.array([True, False])) == pytest.approx(0.0)


def test_auc_counts_ties_as_half() -> None:
    assert auc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])) == pytest.approx(0.875)


def test_an_interval_holds_its_rate() -> None:
    rate = Rate.of([True] * 9 + [False])
    assert rate.low < rate.value < rate.high
    assert Rate.of([]).n == 0


def test_the_committed_sets_are_whole_and_use_only_the_procedures_own_labels() -> None:
    """At least 150 utterances a procedure, each with a label that exists; nothing is judged here."""
    for path in shipped_sets():
        examples = list(read_examples(path))
        procedure = load_procedure(examples[0].sop)
        assert len(examples) >= 150
        assert {one.sop for one in examples} == {procedure.name}
        assert {one.state for one in examples} <= set(procedure.states)
