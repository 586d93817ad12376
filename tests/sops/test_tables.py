import os
from pathlib import Path

import pytest

from sops.loader import find, load_procedure, names
from sops.models import Simulated
from sops.tables import TablesInvalid, load_tables


def test_tables_are_found_beside_the_procedure(tmp_path: Path) -> None:
    (tmp_path / "mine.data.yaml").write_text('rows: {"001": {a: 1}}\none: {a: 2, b: x}\n', encoding="utf-8")
    tables = load_tables(tmp_path / "mine.yaml")
    assert tables == {"rows": {"001": {"a": 1}}, "one": {"": {"a": 2, "b": "x"}}}


def test_a_data_folder_comes_first(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.yaml").write_text("rows: {k: {a: 1}}", encoding="utf-8")
    (tmp_path / "mine.data.yaml").write_text("rows: {k: {a: 2}}", encoding="utf-8")
    assert load_tables(tmp_path / "mine.yaml") == {"rows": {"k": {"a": 1}}}


def test_a_procedure_without_tables_has_none(tmp_path: Path) -> None:
    assert load_tables(tmp_path / "mine.yaml") == {}


def test_a_changed_table_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.data.yaml"
    path.write_text("rows: {k: {a: 1}}", encoding="utf-8")
    assert load_tables(tmp_path / "mine.yaml")["rows"]["k"]["a"] == 1
    path.write_text("rows: {k: {a: 2}}", encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert load_tables(tmp_path / "mine.yaml")["rows"]["k"]["a"] == 2


@pytest.mark.parametrize("text", ["- a\n- b\n", "rows: {k: {a: 1}, b: 2}\n", "rows: [1]\n", "rows: {"])
def test_what_is_no_table_is_refused_with_a_remedy(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.data.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(TablesInvalid, match=r"mine\.data\.yaml.*(Write|Mend)"):
        load_tables(tmp_path / "mine.yaml")


@pytest.mark.parametrize("name", names())
def test_shipped_back_offices_serve_at_least_thirty_people(name: str) -> None:
    tables = load_tables(find(name))
    procedure = load_procedure(name)
    people = tables["identities"]
    assert len(people) >= 30
    keys = {
        fetch.table: fetch.key
        for dependency in procedure.dependencies.values()
        if isinstance(fetch := dependency.fetch, Simulated)
    }
    identity_key = keys["identities"]
    for table, key in keys.items():
        if key == identity_key:
            assert tables[table].keys() == people.keys(), f"{table} must have a row for everybody"


@pytest.mark.parametrize("name", names())
def test_rows_hold_values_in_the_form_facts_are_compared_in(name: str) -> None:
    from sops.values import normalise

    procedure = load_procedure(name)
    for row in load_tables(find(name))["identities"].values():
        for field, value in row.items():
            if field in procedure.facts:
                assert normalise(value, procedure.facts[field].keep) == value
