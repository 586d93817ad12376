"""One broken file per kind of mistake: each must be found on its line, with a remedy that mends it."""

from pathlib import Path

import pytest

from sops.checks import Finding, check_file, check_text
from sops.loader import ProcedureInvalid, find, load_procedure, names
from sops.tables import Tables
from tests.sops.mistakes import MISTAKES, Mistake

SOUND = (Path(__file__).parent / "sound.yaml").read_text(encoding="utf-8")
TABLES: Tables = {
    "identities": {"123456": {"name": "Ada"}},
    "prices": {"123456": {"pounds": 300}},
    "renewals": {"123456": {"reference": "R1"}},
}


def test_the_sound_file_is_sound() -> None:
    assert check_text(SOUND, "sound.yaml", TABLES) == []


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_found_on_its_line_with_a_remedy(mistake: Mistake) -> None:
    assert SOUND.count(mistake.old) >= 1, "the edit must change the file"
    broken = SOUND.replace(mistake.old, mistake.new, 1)
    findings = check_text(broken, "broken.yaml", TABLES)
    said = [finding for finding in findings if mistake.message in finding.message]
    assert said, "\n".join(map(str, findings)) or "nothing was found"
    lines = broken.splitlines()
    assert any(mistake.at in lines[finding.line - 1] for finding in said), [(f.line, lines[f.line - 1]) for f in said]
    assert any(mistake.remedy in finding.remedy for finding in said), [finding.remedy for finding in said]
    assert {finding.level for finding in said} == {mistake.level}


def test_bad_yaml_names_the_line() -> None:
    broken = SOUND.replace("    kind: greet\n", "   kind: greet\n     - x\n", 1)
    (finding,) = check_text(broken, "broken.yaml", TABLES)
    assert finding.level == "error"
    assert "not valid YAML" in finding.message
    assert abs(finding.line - (SOUND[: SOUND.index("    kind: greet\n")].count("\n") + 1)) <= 2
    assert "indentation" in finding.remedy


def test_control_characters_are_reported_and_not_raised() -> None:
    (finding,) = check_text(SOUND + "\x07", "broken.yaml", TABLES)
    assert "not valid YAML" in finding.message


@pytest.mark.parametrize("text", ["", "just words", "[1, 2]", "name: [", "42"])
def test_what_is_no_procedure_at_all_is_reported_and_not_raised(text: str) -> None:
    assert any(finding.level == "error" for finding in check_text(text, "broken.yaml"))


def test_a_finding_reads_as_file_line_level_message_and_remedy() -> None:
    finding = Finding("a.yaml", 3, "error", "It is broken.", "Mend it.")
    assert str(finding) == "a.yaml:3: error: It is broken. Mend it."


@pytest.mark.parametrize("name", names())
def test_shipped_procedures_have_no_findings(name: str) -> None:
    assert [str(finding) for finding in check_file(find(name))] == []


def test_an_unreadable_file_is_a_finding(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("name: caf\xe9".encode("latin-1"))
    (finding,) = check_file(latin)
    assert "UTF-8" in finding.remedy
    (finding,) = check_file(tmp_path / "nowhere.yaml")
    assert "can't be read" in finding.message


def test_broken_tables_beside_a_procedure_are_a_finding(tmp_path: Path) -> None:
    (tmp_path / "sound.yaml").write_text(SOUND, encoding="utf-8")
    (tmp_path / "sound.data.yaml").write_text("identities: [", encoding="utf-8")
    (finding,) = check_file(tmp_path / "sound.yaml")
    assert "sound.data.yaml" in finding.remedy


def test_loading_a_broken_procedure_says_the_same_as_checking_it(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(SOUND.replace("start: greet", "strat: greet"), encoding="utf-8")
    with pytest.raises(ProcedureInvalid, match=r"broken\.yaml:4: error: .*'strat'.*'start'"):
        load_procedure(path)
