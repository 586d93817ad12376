"""A turn remembers the step that the procedure's rules expected next: counts under it know what the desk knew."""

from sqlalchemy import Connection, text


def upgrade(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE precedent_turns ADD COLUMN due_id INTEGER NOT NULL DEFAULT 0"))
