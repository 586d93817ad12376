"""Numbered steps that bring any older database to today's tables, each run once, under a lock.

A step is a module `mNNNN_what.py` with `upgrade(connection)`. Steps are never edited once released; a change is a new
step. They spell out their own SQL instead of importing `schema`, which moves on while they must not.
"""

import importlib
import pkgutil
from collections.abc import Callable

from sqlalchemy import Connection, Engine, text

from cuecard.errors import StorageError
from cuecard.precedents.engine import writing

MIGRATION_LOCK = 0x43554543
"""Advisory lock that all processes sharing one PostgreSQL agree on."""


def steps() -> dict[int, str]:
    """Number to module name, in order."""
    found = sorted(info.name for info in pkgutil.iter_modules(__path__) if info.name.startswith("m"))
    return {int(name[1:5]): f"{__name__}.{name}" for name in found}


def migrate(engine: Engine) -> list[int]:
    """Run what has not run yet and return its numbers; processes that start together wait for one another."""
    with writing(engine, MIGRATION_LOCK) as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS precedent_migrations (number INTEGER PRIMARY KEY)"))
        done = set(connection.execute(text("SELECT number FROM precedent_migrations")).scalars())
        known = steps()
        if ahead := done - known.keys():
            raise StorageError(
                f"{engine.url.render_as_string()} was written by a newer Cuecard (migration {max(ahead)}); "
                f"this one knows up to {max(known)}. Upgrade Cuecard, or point it at another database."
            )
        missing = [number for number in known if number not in done]
        for number in missing:
            upgrade: Callable[[Connection], None] = importlib.import_module(known[number]).upgrade
            upgrade(connection)
            connection.execute(text("INSERT INTO precedent_migrations (number) VALUES (:n)"), {"n": number})
    return missing
