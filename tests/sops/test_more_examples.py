from pathlib import Path

import pytest

from sops.checks import check_file
from sops.loader import ProcedureInvalid, load_procedure
from sops.more_examples import check_examples, examples_path, with_examples
from sops.starter import write_starter


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    write_starter("mine", tmp_path)
    return tmp_path / "mine.yaml"


def test_lines_under_a_heading_follow_the_examples_of_that_place(mine: Path) -> None:
    before = load_procedure(mine)
    state, cohort = next(iter(before.states)), next(iter(before.cohorts))
    mood = next(iter(before.cohorts[cohort].moods))
    mine.with_name("mine.examples.txt").write_text(
        f"# said in March\n## states.{state}\nwell hello\n\n## cohorts.{cohort}\nme again\n"
        f"## cohorts.{cohort}.moods.{mood}\nla la la\n",
        encoding="utf-8",
    )
    after = load_procedure(mine)
    assert after.states[state].examples == (*before.states[state].examples, "well hello")
    assert after.cohorts[cohort].examples == (*before.cohorts[cohort].examples, "me again")
    assert after.cohorts[cohort].moods[mood].examples == (*before.cohorts[cohort].moods[mood].examples, "la la la")


def test_a_changed_file_is_read_again(mine: Path) -> None:
    more = mine.with_name("mine.examples.txt")
    state = next(iter(load_procedure(mine).states))
    more.write_text(f"## states.{state}\nwell hello\n", encoding="utf-8")
    assert load_procedure(mine).states[state].examples[-1] == "well hello"
    more.unlink()
    assert load_procedure(mine).states[state].examples[-1] != "well hello"


def test_an_unknown_heading_is_an_error_with_its_line_and_the_nearest_name(mine: Path) -> None:
    state = next(iter(load_procedure(mine).states))
    mine.with_name("mine.examples.txt").write_text(f"\n## states.{state}x\nhello\n", encoding="utf-8")
    with pytest.raises(ProcedureInvalid, match=rf"mine\.examples\.txt:2: .*states\.{state}'\?"):
        load_procedure(mine)
    (finding,) = check_file(mine)
    assert finding.line == 2


def test_one_sentence_under_two_states_and_one_under_none_are_errors(mine: Path) -> None:
    procedure = load_procedure(mine)
    first, second = list(procedure.states)[:2]
    text = f"hello\n## states.{first}\nWell, hello!\n## states.{second}\nwell hello\n"
    assert [finding.line for finding in check_examples(procedure, text, "more.txt")] == [1, 5]
    own = procedure.states[first].examples[0]
    (finding,) = check_examples(procedure, f"## states.{second}\n{own}\n", "more.txt")
    assert first in finding.message


def test_the_same_sentence_twice_under_one_state_is_none(mine: Path) -> None:
    procedure = load_procedure(mine)
    state = next(iter(procedure.states))
    text = f"## states.{state}\nwell hello\nwell hello\n"
    assert list(check_examples(procedure, text, "more.txt")) == []
    assert with_examples(procedure, text).states[state].examples[-2:] == ("well hello", "well hello")


def test_a_folder_of_examples_serves_as_well(mine: Path) -> None:
    assert examples_path(mine) is None
    folder = mine.parent / "examples"
    folder.mkdir()
    (folder / "mine.txt").write_text("", encoding="utf-8")
    assert examples_path(mine) == folder / "mine.txt"
