"""Library use: an `Engine` per process, a `Session` per call. Both graphs run in this process, with no server."""

from cuecard.session.engine import Engine
from cuecard.session.session import Past, Piece, Reply, Session

__all__ = ["Engine", "Past", "Piece", "Reply", "Session"]
