"""Opens the database behind the precedents: SQLite or PostgreSQL, the same code from here on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from cuecard.errors import StorageError

BUSY_TIMEOUT_S = 10.0
"""How long a SQLite writer waits for another process before it gives up."""


def database_url(url_or_path: str | Path) -> URL:
    """A SQLAlchemy URL: a path means a SQLite file, `postgresql://` means psycopg 3."""
    if isinstance(url_or_path, Path) or "://" not in url_or_path:
        return URL.create("sqlite", database=str(url_or_path))
    try:
        url = make_url(url_or_path)
    except ArgumentError as error:
        raise StorageError(
            f"The database URL cannot be read ({error}); use postgresql://... or a file path."
        ) from error
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise StorageError(f"Precedents live in SQLite or PostgreSQL, not in {url.get_backend_name()}.")
    return url


def open_engine(url_or_path: str | Path) -> Engine:
    """An engine with a small pool; a SQLite file's folder is made when missing."""
    url = database_url(url_or_path)
    if url.get_backend_name() == "postgresql":
        try:
            return create_engine(url, pool_size=4, max_overflow=4, pool_pre_ping=True)
        except ModuleNotFoundError as error:
            raise StorageError("PostgreSQL needs psycopg: pip install 'cuecard[postgres]'.") from error
    if not url.database or url.database == ":memory:":
        raise StorageError("Precedents need a file: an in-memory SQLite cannot be shared between threads.")
    Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own transaction handling would delay BEGIN past the first read; we send it ourselves.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-16384", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A consistent view for a few reads; database errors come out as `StorageError`."""
    try:
        with engine.connect() as connection:
            yield connection
    except SQLAlchemyError as error:
        raise _storage_error(engine, error) from error


@contextmanager
def writing(engine: Engine, lock: int) -> Iterator[Connection]:
    """A transaction that holds `lock` to its end, so that read-change-write is safe among processes.

    SQLite has one writer anyway (BEGIN IMMEDIATE); PostgreSQL takes an advisory lock of that number.
    """
    try:
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock})
            yield connection
    except SQLAlchemyError as error:
        raise _storage_error(engine, error) from error


def overwrite_deleted(connection: Connection) -> None:
    """Have SQLite blank what this connection deletes from now on, so that no words linger in free pages of the file."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete=ON")


def empty_journal(engine: Engine) -> None:
    """Bring SQLite's write-ahead log into the file and empty it: it still holds pages as they were.

    While another process is reading, it is left for the next time.
    """
    if engine.dialect.name == "sqlite":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _storage_error(engine: Engine, error: SQLAlchemyError) -> StorageError:
    # The first line only: the rest quotes parameters, which may be a caller's words.
    reason = str(getattr(error, "orig", None) or error).splitlines()[0]
    return StorageError(f"The precedents in {engine.url.render_as_string()} could not be used: {reason}")
