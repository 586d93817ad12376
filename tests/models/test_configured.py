"""Whether a chat model is configured."""

import pytest

from cuecard.settings import Settings


@pytest.mark.parametrize(
    ("variables", "configured"),
    [
        ({}, False),
        ({"OPENAI_API_KEY": ""}, False),
        ({"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}, False),
        ({"OPENAI_API_KEY": "key"}, True),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, True),
    ],
)
def test_a_variable_that_is_set_but_empty_configures_no_model(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], configured: bool
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Settings().has_model is configured
