"""Any older database is brought up to date once, whoever comes first."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from cuecard.errors import StorageError
from cuecard.precedents.engine import open_engine, reading, writing
from cuecard.precedents.migrations import migrate, steps
from cuecard.precedents.schema import metadata


def test_steps_are_numbered_without_gaps() -> None:
    assert list(steps()) == list(range(1, len(steps()) + 1))


def test_the_migrated_tables_are_those_the_queries_are_written_for(place: str | Path) -> None:
    engine = open_engine(place)
    assert migrate(engine) == list(steps())
    found = inspect(engine)
    for table in metadata.sorted_tables:
        assert {column["name"] for column in found.get_columns(table.name)} == {column.name for column in table.columns}
        assert {str(index["name"]) for index in found.get_indexes(table.name) if not index.get("unique")} == {
            str(index.name) for index in table.indexes
        }
    engine.dispose()


def test_ten_that_start_together_migrate_once(place: str | Path) -> None:
    engines = [open_engine(place) for _ in range(10)]
    with ThreadPoolExecutor(10) as threads:
        done = [*threads.map(migrate, engines)]
    assert sorted(map(len, done)) == [0] * 9 + [len(steps())]
    for engine in engines:
        engine.dispose()


def test_a_database_of_a_newer_version_is_left_alone_and_the_message_says_what_to_do(place: str | Path) -> None:
    engine = open_engine(place)
    migrate(engine)
    with writing(engine, 1) as connection:
        connection.execute(text("INSERT INTO precedent_migrations (number) VALUES (9999)"))
    with pytest.raises(StorageError, match="newer Cuecard"):
        migrate(engine)
    engine.dispose()


def test_a_failed_transaction_leaves_nothing(place: str | Path) -> None:
    engine = open_engine(place)
    migrate(engine)
    insert = text("INSERT INTO precedent_migrations (number) VALUES (77)")
    with pytest.raises(StorageError, match=r"(?i)unique"), writing(engine, 1) as connection:
        connection.execute(insert, [{}, {}])
    with reading(engine) as connection:
        assert connection.execute(text("SELECT count(*) FROM precedent_migrations WHERE number = 77")).scalar() == 0
    engine.dispose()


@pytest.mark.parametrize("url", ["mysql://somewhere/x", "not a://url", ":memory:"])
def test_a_place_that_cannot_hold_precedents_is_refused_with_a_reason(url: str) -> None:
    with pytest.raises(StorageError):
        open_engine(url)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.sqlite"
    path.write_bytes(b"this is no database" * 100)
    engine = open_engine(path)
    with pytest.raises(StorageError, match=r"p\.sqlite.*not a database"):
        migrate(engine)
    engine.dispose()


def test_a_password_in_the_url_is_never_shown() -> None:
    engine = open_engine("postgresql://user:secret@/db?host=/nowhere")
    with pytest.raises(StorageError) as error:
        migrate(engine)
    assert "secret" not in str(error.value)
    engine.dispose()
