import io
import sys
from pathlib import Path

import orjson
import pytest

from cuecard.cli import main


def run(argv: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    with pytest.raises(SystemExit) as exit_:
        main(argv)
    assert exit_.value.code == 0
    return [orjson.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_line_of_standard_input_is_judged_by_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "verify_identity\tit's 447 109\n\nget me a real person\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    first, second = run(["classify", "insurance_renewal", "--stdin", "--json"], capsys)
    assert list(first) == ["state", "p_state", "mood", "cohort", "facts"]
    assert (first["state"], first["facts"]) == ("gives_details", {"policy_number": "447109"})
    assert (second["state"], second["facts"]) == ("wants_person", {})


def test_the_bench_scores_any_file_of_labelled_lines(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [
        {
            "sop": "insurance_renewal",
            "action": "present_quote",
            "utterance": "how much?? no way",
            "state": "objects_price",
        },
        {"sop": "insurance_renewal", "utterance": "bye bye", "state": "says_goodbye"},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    (report,) = run(["bench", "classify", "--data", str(path), "--json"], capsys)
    scores = report["insurance_renewal"]
    assert isinstance(scores, dict)
    assert scores["n"] == 2
    assert scores["state_top3"] == 1.0
    assert {"state_acc", "transition_recall", "auc_change", "mood_acc", "cohort_acc", "ece"} <= set(scores)
