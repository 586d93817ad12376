import pytest

from cuecard.cli import main
from evals.calls.many import CallsFailed, play_many


@pytest.mark.parametrize("command", ["call", "calls"])
def test_an_unknown_procedure_is_said_at_once(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "no_such_procedure"])
    assert stopped.value.code == 2
    assert "no_such_procedure" in capsys.readouterr().err


def test_a_prefetch_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["call", "insurance_renewal", "--prefetch", "everything"])
    assert stopped.value.code == 2
    assert "value or none" in capsys.readouterr().err


@pytest.mark.slow
def test_a_worker_that_cannot_play_says_why() -> None:
    with pytest.raises(CallsFailed, match="no_such_procedure"):
        list(play_many("no_such_procedure", [1, 2], ["ours"]))
