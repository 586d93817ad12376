"""API keys: each belongs to one tenant, and a tenant sees nothing of another's."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from cuecard.errors import CuecardError
from cuecard.settings import Settings

OPEN_TENANT = "default"
"""Whose calls they are where no keys are configured."""


class KeysError(CuecardError):
    """The configured API keys cannot be read."""


class Keys:
    """Knows tenants by the digests of their keys: a comparison of digests tells nothing about a key by its time."""

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self._tenants = {_digest(key): tenant for key, tenant in pairs.items()}

    def __bool__(self) -> bool:
        return bool(self._tenants)

    def tenant_of(self, authorization: str) -> str | None:
        """The tenant of an `Authorization: Bearer KEY` header; None when the key is nobody's."""
        if not self._tenants:
            return OPEN_TENANT
        scheme, _, key = authorization.partition(" ")
        return self._tenants.get(_digest(key.strip())) if scheme.lower() == "bearer" else None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def load_keys(settings: Settings) -> Keys:
    """Keys from CUECARD_API_KEYS and CUECARD_API_KEYS_FILE; several keys may belong to one tenant."""
    pairs: dict[str, str] = {}
    if settings.api_keys is not None:
        for entry in settings.api_keys.get_secret_value().split(","):
            _add(pairs, entry, "CUECARD_API_KEYS")
    if settings.api_keys_file is not None:
        for n, line in enumerate(_read(settings.api_keys_file).splitlines(), 1):
            if not line.lstrip().startswith("#"):
                _add(pairs, line, f"{settings.api_keys_file}, line {n}")
    return Keys(pairs)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise KeysError(f"The API keys in {path} cannot be read: {error}. Mend CUECARD_API_KEYS_FILE.") from error


def _add(pairs: dict[str, str], entry: str, where: str) -> None:
    if not entry.strip():
        return
    tenant, colon, key = entry.strip().partition(":")
    if not colon or not tenant.strip() or not key.strip():
        # The entry itself is not quoted: it may be a key.
        raise KeysError(f"{where}: an entry is not `tenant:key`.")
    if len(tenant) > 64:
        raise KeysError(f"{where}: a tenant's name is longer than 64 characters.")
    if pairs.setdefault(key.strip(), tenant.strip()) != tenant.strip():
        raise KeysError(f"{where}: one key is given to two tenants, {pairs[key.strip()]} and {tenant.strip()}.")
