"""What a session is called in the database: its own name, and after its keep-by date a hash of it.

The hash still answers `forget` and refuses a second import, to whoever knows the name; it does not give the name away.
"""

from hashlib import sha256

HIDDEN = "sha256:"


def hidden_name(tenant: str, session: str) -> str:
    return HIDDEN + sha256(f"{tenant}\x1f{session}".encode()).hexdigest()


def known_as(tenant: str, session: str) -> list[str]:
    """Both names a session may be filed under, the plain one first."""
    return [session, hidden_name(tenant, session)]
