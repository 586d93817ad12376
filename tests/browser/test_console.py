"""A headless Chromium has a call in the console, watches the slow brain, and replays the call afterwards."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.server.process import Served

pytestmark = [pytest.mark.sockets, pytest.mark.slow]

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}


def until(true: Callable[[], object], what: str, timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < deadline, f"not within {timeout_s:g} s: {what}"
        time.sleep(0.1)


def text(browser: Chrome, selector: str) -> str:
    return " ".join(one.text for one in browser.find_elements(By.CSS_SELECTOR, selector))


def replies(browser: Chrome) -> list[str]:
    finished = browser.find_elements(By.CSS_SELECTOR, ".turn.agent:not(.speaking) > span")
    return [one.text for one in finished if one.text]


def say(browser: Chrome, words: str) -> None:
    """Type as a caller would and press Return: no mouse is needed."""
    n = len(replies(browser))
    browser.find_element(By.ID, "words").send_keys(words + Keys.RETURN)
    until(lambda: len(replies(browser)) > n, f"a reply to {words!r}")


def open_console(browser: Chrome, gateway: Served) -> None:
    browser.get(f"{gateway.url}/console")
    until(lambda: "insurance renewal" in text(browser, "#model"), "the procedures")


def marks(browser: Chrome, kind: str) -> int:
    return len(browser.find_elements(By.CSS_SELECTOR, f"#timeline rect.{kind}"))


def test_a_call_is_had_watched_and_replayed(browser: Chrome, gateway: Served, tmp_path: Path) -> None:
    open_console(browser, gateway)
    browser.find_element(By.ID, "new").click()
    until(lambda: replies(browser), "the greeting")
    assert browser.switch_to.active_element.get_attribute("id") == "words"
    say(browser, "hi, it's policy 343705 and I was born on 8 January 1942")
    assert "Gordon Peel" in replies(browser)[-1]
    until(lambda: "present quote" in text(browser, "#forecast"), "a forecast of the quote")
    before, caller_before = text(browser, "#forecast"), marks(browser, "caller")
    until(lambda: marks(browser, "ahead"), "a fetch ahead on the timeline")
    say(browser, "about nine thousand miles a year")
    until(lambda: text(browser, "#forecast") != before, "another forecast")
    until(lambda: marks(browser, "caller") > caller_before, "the turn on the timeline")
    assert marks(browser, "agent") >= 3
    assert marks(browser, "think") >= 1
    until(lambda: "payment options\nready" in text(browser, "#pool"), "a fetch that lands before it is asked for")
    say(browser, "yes that sounds fine, let's go ahead")
    until(lambda: "payment options\n✓ used" in text(browser, "#pool"), "the landed item in use")
    assert "before it was needed" in text(browser, "#insight")
    for name, width, height in (("desktop", 1440, 900), ("phone", 390, 844)):
        size = {**PHONE, "width": width, "height": height, "mobile": name == "phone"}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        time.sleep(0.3)
        assert browser.save_screenshot(str(tmp_path / f"{name}.png"))
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width, f"the page must not scroll sideways at {name} width"
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    name = text(browser, "#name")
    browser.refresh()
    until(lambda: name in text(browser, "#pick"), "the call in the list of logged ones")
    Select(browser.find_element(By.ID, "pick")).select_by_value(name)
    Select(browser.find_element(By.ID, "speed")).select_by_visible_text("30")
    until(lambda: browser.find_element(By.ID, "play").is_displayed(), "the replay's controls")
    browser.find_element(By.ID, "play").send_keys(Keys.SPACE)
    until(lambda: any("Gordon Peel" in reply for reply in replies(browser)), "the replayed reply")
    until(lambda: marks(browser, "caller") >= 2, "the replayed timeline")
    told = browser.get_log("browser")  # type: ignore[no-untyped-call]
    severe = [entry for entry in told if entry["level"] == "SEVERE"]
    assert severe == [], "nothing may be missing or refused by the page's own policy"


def test_a_phone_shows_one_part_at_a_time_and_names_every_control(browser: Chrome, gateway: Served) -> None:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    open_console(browser, gateway)
    parts = {"talk": ".talk", "mind": ".mind", "time": ".time"}
    for tab in parts:
        browser.find_element(By.CSS_SELECTOR, f".tabs [data-to={tab}]").click()
        shown = [name for name, part in parts.items() if browser.find_element(By.CSS_SELECTOR, part).is_displayed()]
        assert shown == [tab]
    unnamed = browser.execute_script(
        "return [...document.querySelectorAll('button, input, select')].filter(e => !e.textContent.trim()"
        " && !e.getAttribute('aria-label') && !(e.labels && e.labels.length)).map(e => e.outerHTML)"
    )
    assert unnamed == []
    assert browser.find_element(By.ID, "log").get_attribute("aria-live") == "polite"


def test_light_and_dark_are_both_readable(browser: Chrome, gateway: Served) -> None:
    open_console(browser, gateway)
    seen = set()
    for _ in range(2):
        browser.find_element(By.ID, "theme").click()
        ink, ground = browser.execute_script(
            "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
        )
        seen.add(ground)
        assert _contrast(ink, ground) > 7.0
    assert len(seen) == 2


def _contrast(one: str, other: str) -> float:
    """WCAG contrast of two `rgb(r, g, b)` colours."""

    def luminance(colour: str) -> float:
        channels = [int(value) / 255 for value in colour.partition("(")[2].rstrip(")").split(",")[:3]]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
