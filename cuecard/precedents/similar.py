"""Finds past turns like the present one: recent ones of the same kind, ranked by words and by what else agrees."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import CompoundSelect, Connection, Row, bindparam, select, union_all

from cuecard.precedents.labels import NAMELESS
from cuecard.precedents.names import shown_name
from cuecard.precedents.schema import sessions, words
from cuecard.precedents.tenants import Tenant
from cuecard.precedents.types import Similar, Vector
from cuecard.precedents.vectors import unsqueeze

CANDIDATES = 64
"""Most recent turns read per width of context; four widths make the whole cost, whatever the history."""

AGREEMENT = {"state": 0.10, "after": 0.10, "mood": 0.06, "cohort": 0.03}
"""What each agreeing feature adds to the cosine (decision 0123)."""


class Situation(NamedTuple):
    """Where the call stands as the caller finishes speaking. An empty field is not compared."""

    sop: str
    state: str = ""
    after: str = ""
    """The agent's last action."""
    mood: str = ""
    cohort: str = ""


class Candidates(NamedTuple):
    """Past turns of one situation, to be ranked by words: what may be kept for a while, since it hangs on no vector."""

    rows: Sequence[Row[Any]]
    labels: Mapping[int, str]
    bonus: npt.NDArray[np.float32]
    """What agreeing features add to each turn's cosine."""

    def nearest(self, vector: Vector, k: int) -> list[Similar]:
        """At most k, best first; of equally like ones the newer."""
        if not self.rows:
            return []
        cosines = unsqueeze([row.embedding for row in self.rows]) @ vector
        scores = cosines + self.bonus
        age = np.array([(-row.session_id, -row.turn) for row in self.rows])
        best = np.lexsort((age[:, 1], age[:, 0], -scores))[:k]
        return [self._similar(self.rows[n], float(scores[n]), float(cosines[n])) for n in best]

    def _similar(self, row: Row[Any], score: float, cosine: float) -> Similar:
        named = self.labels.get
        return Similar(
            score=score,
            cosine=cosine,
            session=shown_name(row.name),
            turn=row.turn,
            cohort=named(row.cohort_id, ""),
            mood=named(row.mood_id, ""),
            state=named(row.state_id, ""),
            after=named(row.after_id, ""),
            action=named(row.action_id, ""),
            utterance=row.utterance,
            reply=row.reply,
            outcome=row.outcome,
        )


NOBODY = Candidates((), {}, np.zeros(0, np.float32))


def candidates(connection: Connection, tenant: Tenant, where: Situation) -> Candidates:
    """The most recent turns of each width of context, each turn once. Names never seen simply agree with nothing."""
    sop_id = tenant.labels.find(where.sop)
    if not sop_id:
        return NOBODY
    ids = {name: tenant.labels.find(getattr(where, name), sop_id) or NAMELESS for name in AGREEMENT}
    # An index is of use only while all columns before are given, so an unknown state ends the narrowing.
    known = [ids[name] != NAMELESS for name in _NARROWING]
    n_widths = 1 + (known.index(False) if False in known else len(known))
    asked = {"tenant": tenant.id, "sop": sop_id, **{name: ids[name] for name in _NARROWING[: n_widths - 1]}}
    found = connection.execute(_recent(n_widths), asked).all()
    rows = [*{(row.session_id, row.turn): row for row in found}.values()]
    if not rows:
        return NOBODY
    # A name that is not known agrees with nothing, not even with its like.
    here = np.array([ids[name] or -1 for name in AGREEMENT])
    agrees = np.array([row[: len(AGREEMENT)] for row in rows]) == here
    return Candidates(rows, tenant.labels.names, agrees @ np.array([*AGREEMENT.values()], np.float32))


_NARROWING = ("state", "after", "mood")


@lru_cache(maxsize=len(_NARROWING) + 1)
def _recent(n_widths: int) -> CompoundSelect[Any]:
    """One statement for all widths, made once: making it takes longer than the database takes to answer."""
    labelled = [words.c[f"{name}_id"] for name in AGREEMENT]
    told = [words.c.utterance, words.c.reply, words.c.embedding]
    wanted = [*labelled, words.c.action_id, words.c.session_id, words.c.turn, *told]
    width = (words.c.tenant_id == bindparam("tenant")) & (words.c.sop_id == bindparam("sop"))
    parts = []
    for name in (None, *_NARROWING[: n_widths - 1]):
        if name is not None:
            width = width & (words.c[f"{name}_id"] == bindparam(name))
        # Each is the front of an index, read from its end.
        newest = select(*wanted).where(width).order_by(words.c.session_id.desc()).limit(CANDIDATES).subquery()
        call = select(newest, sessions.c.name, sessions.c.outcome).join(sessions, sessions.c.id == newest.c.session_id)
        parts.append(call.where(newest.c.embedding.is_not(None)))
    return union_all(*parts)
