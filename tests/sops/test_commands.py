import json
from pathlib import Path

import pytest

from cuecard.cli import main


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(list(argv))
    out = capsys.readouterr()
    code = caught.value.code
    return (code if isinstance(code, int) else 0), out.out, out.err


def test_a_new_procedure_passes_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "sop", "new", "parcels")
    assert code == 0
    assert "cuecard chat ./parcels.yaml" in out
    code, out, _ = run(capsys, "sop", "check", "parcels.yaml", "insurance_renewal", "--json")
    assert code == 0
    assert json.loads(out.splitlines()[-1]) == {"files": 2, "errors": 0, "warnings": 0, "findings": []}


def test_errors_are_told_with_their_line_and_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "sop", "new", "parcels", "--out", str(tmp_path))
    path = tmp_path / "parcels.yaml"
    text = path.read_text(encoding="utf-8")
    line = text[: text.index("start: greet")].count("\n") + 1
    path.write_text(text.replace("start: greet", "start: great"), encoding="utf-8")
    code, out, _ = run(capsys, "sop", "check", str(path))
    assert code == 1
    assert f"{path}:{line}: error: start: unknown action 'great'. Did you mean 'greet'?" in out


def test_warnings_alone_leave_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "sop", "new", "parcels", "--out", str(tmp_path))
    path = tmp_path / "parcels.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("      - nah\n", ""), encoding="utf-8")
    code, out, _ = run(capsys, "sop", "check", str(path))
    assert code == 0
    assert "0 errors, 1 warnings" in out


def test_a_corpus_that_is_not_there_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "sop", "new", "parcels", "--out", str(tmp_path))
    for document in (tmp_path / "parcels_corpus").iterdir():
        document.unlink()
    (tmp_path / "parcels_corpus").rmdir()
    code, out, _ = run(capsys, "sop", "check", str(tmp_path / "parcels.yaml"))
    assert code == 1
    assert "A corpus can't be used" in out
    line = (tmp_path / "parcels.yaml").read_text(encoding="utf-8").splitlines()
    assert f"parcels.yaml:{next(n for n, text in enumerate(line, 1) if 'type: rag' in text)}:" in out


def test_a_file_that_is_not_there_is_an_error_among_others(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "sop", "check", "nowhere.yaml", "insurance_renewal")
    assert code == 1
    assert "nowhere.yaml" in out
    assert "2 checked, 1 errors" in out


def test_the_graph_of_a_procedure_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "sop", "graph", "card_activation")
    assert code == 0
    assert out.startswith("flowchart TD\n")


def test_the_graph_of_nothing_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "sop", "graph", "card_activatoin")
    assert code == 2
    assert out == ""
    assert "card_activation" in err


def test_the_name_of_a_procedure_that_comes_with_the_product_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["sop", "new", "card_activation", "--out", str(tmp_path)])
    assert stopped.value.code == 2
    assert "my_card_activation" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
