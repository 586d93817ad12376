"""Topics may be given by name: the document that answered a question tells better than words what it was about."""

from sqlalchemy import Connection, text


def upgrade(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE precedent_topics ADD COLUMN name TEXT NOT NULL DEFAULT ''"))
