"""What a session is called in the database: its own name, and after its keep-by date a hash of it.

The hash still answers `forget` and refuses a second import, to whoever knows the name; it does not give the name away.
"""

from hashlib import sha256

HIDDEN = "sha256:"
_PLAIN = "="
"""Stands before a name that looks like a hash (or has this mark itself), so that no caller can pass for purged."""


def hidden_name(tenant: str, stored: str) -> str:
    """The hash that replaces a stored name."""
    return HIDDEN + sha256(f"{tenant}\x1f{stored}".encode()).hexdigest()


def stored_name(session: str) -> str:
    return _PLAIN + session if session.startswith((HIDDEN, _PLAIN)) else session


def shown_name(stored: str) -> str:
    return stored.removeprefix(_PLAIN)


def known_as(tenant: str, session: str) -> list[str]:
    """Both names a session may be filed under, the plain one first."""
    stored = stored_name(session)
    return [stored, hidden_name(tenant, stored)]
