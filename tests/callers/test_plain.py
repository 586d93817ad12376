import random
from pathlib import Path

import pytest

from evals.callers import draw_agenda, load_wording
from evals.callers.plain import with_plain_facts
from sops.loader import find, load_procedure, names
from sops.starter import write_starter
from sops.tables import load_tables


def test_callers_of_a_new_procedure_know_what_the_back_office_knows(tmp_path: Path) -> None:
    write_starter("mine", tmp_path)
    path = tmp_path / "mine.yaml"
    procedure, tables = load_procedure(path), load_tables(path)
    wording = with_plain_facts(load_wording("mine"), procedure, tables)
    known = {
        draw_agenda(procedure, tables, wording, (), random.Random(seed)).facts["order_number"] for seed in range(9)
    }
    assert known <= tables["orders"].keys()
    assert len(known) > 2


def test_a_choice_without_wording_is_drawn_from_the_procedure(tmp_path: Path) -> None:
    write_starter("mine", tmp_path)
    path = tmp_path / "mine.yaml"
    text = path.read_text(encoding="utf-8")
    text = text.replace("    asks: [order_number]", "    asks: [order_number, size]")
    text = text.replace(
        "facts:\n", "facts:\n  size:\n    description: How big.\n    choices: {small: [little], big: [large]}\n", 1
    )
    path.write_text(text, encoding="utf-8")
    procedure, tables = load_procedure(path), load_tables(path)
    wording = with_plain_facts(load_wording("mine"), procedure, tables)
    assert draw_agenda(procedure, tables, wording, (), random.Random(1)).facts["size"] in {"small", "big"}


@pytest.mark.parametrize("name", names())
def test_wording_that_was_written_stays_as_it_is(name: str) -> None:
    written = load_wording(name)
    wording = with_plain_facts(written, load_procedure(name), load_tables(find(name)))
    assert {fact: wording.facts[fact] for fact in written.facts} == written.facts
    assert list(wording.facts) == list(written.facts)
