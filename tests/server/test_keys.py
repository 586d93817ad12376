"""API keys from the environment and from a file."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from cuecard.server.keys import KeysError, load_keys
from cuecard.settings import Settings


def test_keys_from_both_places_name_their_tenants(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# who may call\nglobex: second-key\n\n")
    keys = load_keys(Settings(api_keys=SecretStr("acme:first-key, acme:spare"), api_keys_file=file))
    assert keys.tenant_of("Bearer first-key") == keys.tenant_of("bearer spare") == "acme"
    assert keys.tenant_of("Bearer second-key") == "globex"
    assert keys.tenant_of("Bearer third-key") is keys.tenant_of("first-key") is keys.tenant_of("") is None


def test_without_keys_everybody_is_the_default_tenant() -> None:
    assert load_keys(Settings()).tenant_of("") == "default"


def test_a_malformed_entry_is_told_without_being_shown(tmp_path: Path) -> None:
    with pytest.raises(KeysError, match="tenant:key") as told:
        load_keys(Settings(api_keys=SecretStr("hunter2")))
    assert "hunter2" not in str(told.value)
    with pytest.raises(KeysError, match="CUECARD_API_KEYS_FILE"):
        load_keys(Settings(api_keys_file=tmp_path / "none"))
    with pytest.raises(KeysError, match="two tenants"):
        load_keys(Settings(api_keys=SecretStr("a:k,b:k")))
