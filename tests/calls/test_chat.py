"""`cuecard chat` in a terminal and from a pipe."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cuecard.cli import main

CHAT = [sys.executable, "-c", "from cuecard.cli import main; main()", "chat", "insurance_renewal"]


def test_a_prefetch_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["chat", "insurance_renewal", "--prefetch", "everything"])
    assert stopped.value.code == 2
    assert "value or none" in capsys.readouterr().err


def test_a_wrong_environment_variable_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuecard.settings import get_settings

    monkeypatch.setenv("CUECARD_RETENTION_DAYS", "three")
    get_settings.cache_clear()
    with pytest.raises(SystemExit) as stopped:
        main(["doctor"])
    get_settings.cache_clear()
    assert stopped.value.code == 2
    assert "CUECARD_RETENTION_DAYS=three" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_ends_a_chat_that_waits_for_words(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        CHAT, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_env(tmp_path), text=True
    ) as chat:
        assert chat.stdout is not None
        assert "Hello" in chat.stdout.readline()
        chat.send_signal(signal.SIGINT)
        assert chat.wait(timeout=60) == 130
    os.close(ours)
    os.close(theirs)


@pytest.mark.slow
def test_from_a_pipe_only_the_agents_words_come_out(tmp_path: Path) -> None:
    done = subprocess.run(
        CHAT, input="hello\n\nbye", capture_output=True, text=True, env=_env(tmp_path), check=True, timeout=120
    )
    replies = done.stdout.splitlines()
    assert len(replies) == 3
    assert all(reply == reply.strip() for reply in replies)
    assert done.stderr == ""


def _env(data_dir: Path) -> dict[str, str]:
    return {**os.environ, "CUECARD_DATA_DIR": str(data_dir), "OMP_NUM_THREADS": "1"}
