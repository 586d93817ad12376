"""Library use: an `Engine` per process, a `Session` per call. Both graphs run in this process, with no server."""

from cuecard.session.engine import Engine
from cuecard.session.session import Past, Reply, Session
from cuecard.session.under_way import Piece

__all__ = ["Engine", "Past", "Piece", "Reply", "Session"]
