"""A served gateway and a headless Chromium that talks to it. Without a Chromium the tests are skipped and say why."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_socket import enable_socket

from tests.server.process import Served, serve

selenium = pytest.importorskip("selenium", reason="the browser tests need selenium: pip install selenium")

from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402


def _found() -> tuple[str, str] | None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def _binaries() -> tuple[str, str]:
    """Browser and driver; on a CI machine they are installed first, as nothing may go untested there."""
    found = _found()
    if found is None and os.environ.get("CI") == "true" and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for words in (("update",), ("install", "-y", "--no-install-recommends", "chromium", "chromium-driver")):
            subprocess.run(["apt-get", "-q", *words], check=False, capture_output=True, env=environment)
        found = _found()
    if found is None:
        pytest.skip("No Chromium here: `apt-get install chromium chromium-driver` would bring one.")
    return found


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    _binaries()
    enable_socket()
    with serve(tmp_path_factory.mktemp("data"), "insurance_renewal") as served:
        yield served


@pytest.fixture
def browser(gateway: Served, tmp_path: Path) -> Iterator[webdriver.Chrome]:
    binary, driver = _binaries()
    options = Options()
    options.binary_location = binary
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
    for flag in (*flags, f"--user-data-dir={tmp_path}", "--disable-background-networking"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    chrome.set_window_size(1440, 900)
    yield chrome
    chrome.quit()
