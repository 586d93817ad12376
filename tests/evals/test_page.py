"""The report page: self-contained, in light and dark, with titles, units and intervals, and quiet in a browser."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from evals.experiments.command import Outcome, write_page
from evals.experiments.results import read
from tests.evals.recorded import recorded_run


@pytest.fixture
def page(tmp_path: Path) -> Path:
    results = read(recorded_run(tmp_path / "experiments") / "results.jsonl")
    assert results is not None
    line = {
        "name": "E8",
        "bar": "hidden_pct_worst >= 97 %",
        "value": 86.0,
        "ci": [80.0, 90.0],
        "n": 3,
        "verdict": "missed",
    }
    return write_page(Outcome(lines=[line], results={"E8": results}), tmp_path)


def test_the_page_needs_no_network_and_no_script(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)
    assert "url(http" not in text


def test_pictures_have_titles_units_and_intervals(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<title>Waiting hidden, of what an oracle would hide (simulated, 95 % intervals)</title>" in text
    assert "% of hideable seconds" in text
    assert "currentColor" in text
    assert "prefers-color-scheme: dark" in text
    assert "missed" in text


def test_the_same_rows_give_the_same_page(page: Path, tmp_path: Path) -> None:
    first = page.read_bytes()
    results = read(tmp_path / "experiments" / "e08" / "results.jsonl")
    assert results is not None
    line = {
        "name": "E8",
        "bar": "hidden_pct_worst >= 97 %",
        "value": 86.0,
        "ci": [80.0, 90.0],
        "n": 3,
        "verdict": "missed",
    }
    assert write_page(Outcome(lines=[line], results={"E8": results}), tmp_path).read_bytes() == first


@pytest.mark.slow
@pytest.mark.sockets
def test_chromium_opens_the_page_without_a_console_error(page: Path, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("No Chromium here: `apt-get install chromium` would bring one.")
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr")
    command = [browser, *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "Does working ahead pay?" in done.stdout
    assert "CONSOLE" not in done.stderr, done.stderr
