from pathlib import Path

import pytest

from sops import plain_yaml
from sops.loader import ProcedureInvalid, ProcedureNotFound, find, load_procedure, names, read_yaml
from sops.models import RagFetch
from sops.starter import StarterRefused, write_starter


def test_words_and_times_stay_what_they_are_in_yaml() -> None:
    text = "on: yes\nstart: 09:30\nborn: 1984-06-15\ncode: 007\nn: 12\nprior: 0.5\nflag: true\nnothing:\n"
    assert plain_yaml.load(text) == {
        "on": "yes",
        "start": "09:30",
        "born": "1984-06-15",
        "code": "007",
        "n": 12,
        "prior": 0.5,
        "flag": True,
        "nothing": None,
    }


def test_yaml_that_makes_objects_is_refused() -> None:
    with pytest.raises(ProcedureInvalid):
        read_yaml("!!python/object/apply:os.getcwd []", "evil.yaml")


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(ProcedureNotFound, match="insurance_renewal"):
        find("insurance_renewl")
    with pytest.raises(ProcedureNotFound, match="sop new"):
        find("nowhere.yaml")


def test_a_name_cannot_climb_out_of_the_folder() -> None:
    with pytest.raises(ProcedureNotFound):
        find("../sops/insurance_renewal")


def test_three_procedures_come_with_the_product() -> None:
    assert names() == ["card_activation", "insurance_renewal", "medical_booking"]


def test_a_corpus_path_is_seen_from_the_procedure_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_starter("mine", tmp_path)
    monkeypatch.chdir("/")
    fetch = load_procedure(tmp_path / "mine.yaml").dependencies["guide"].fetch
    assert isinstance(fetch, RagFetch)
    assert fetch.corpus == str(tmp_path / "mine_corpus")


def test_a_starter_overwrites_nothing(tmp_path: Path) -> None:
    write_starter("mine", tmp_path)
    (tmp_path / "mine.yaml").write_text("changed", encoding="utf-8")
    with pytest.raises(StarterRefused, match="there already"):
        write_starter("mine", tmp_path)
    assert (tmp_path / "mine.yaml").read_text(encoding="utf-8") == "changed"


@pytest.mark.parametrize("name", ["Mine", "../mine", "my procedure", "", "1st"])
def test_a_starter_needs_a_plain_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(StarterRefused, match="lower-case"):
        write_starter(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_starter_in_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StarterRefused, match="--out"):
        write_starter("mine", tmp_path / "file")


def test_a_name_whose_file_lies_here_is_told_how_to_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_starter("parcel_status", tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProcedureNotFound, match=r"say \./parcel_status\.yaml"):
        find("parcel_status")
    with pytest.raises(ProcedureNotFound, match="There are card_activation"):
        find("parcel")
