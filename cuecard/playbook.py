"""What past agents did in turns like this one, when they agree strongly enough to ask no model."""

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from cuecard.precedents.similar import Candidates, Situation

if TYPE_CHECKING:
    from cuecard.blackboard import Board
    from cuecard.services import Services

COSINE = 0.5
"""Past words less alike than this say nothing about what to do now."""
FRESH_S = 20.0
"""Past turns of a situation are read again after this; what other callers do now may be learned a little later."""
KEPT = 128
"""Situations kept, some 100 kB each."""


class _Kept(NamedTuple):
    candidates: Candidates
    until_s: float


class Playbook:
    """Past turns by situation, one for the process: hundred callers stand in a few dozen situations.

    Reading them takes 3 ms of CPU, ranking them by the words just said a tenth of one (docs/decisions/0186).
    """

    def __init__(self, services: "Services") -> None:
        self._services = services
        self._kept: OrderedDict[tuple[str, Situation], _Kept] = OrderedDict()

    async def step(self, board: "Board", allowed: list[str]) -> tuple[str, str] | None:
        """(action, why), or None where precedents are few or do not agree."""
        settings, live = self._services.settings, board.live
        if self._services.precedents is None or live.vector is None:
            return None
        where = Situation(
            sop=board.kit.procedure.name,
            state=live.belief.likely_state,
            after=board.desk.last_action,
            mood=live.belief.likely_mood,
            cohort=live.belief.likely_cohort,
        )
        found = (await self._candidates(board.tenant, where)).nearest(live.vector, 2 * settings.playbook_min_precedents)
        good = [one for one in found if one.outcome not in {"failed", "abandoned"} and one.cosine >= COSINE]
        if len(good) < settings.playbook_min_precedents:
            return None
        action, votes = Counter(one.action for one in good).most_common(1)[0]
        if votes / len(good) < settings.playbook_agreement or action not in allowed:
            return None
        return action, f"{votes} of {len(good)} similar past turns did so"

    async def _candidates(self, tenant: str, where: Situation) -> Candidates:
        now_s = self._services.clock.now()
        kept = self._kept.get((tenant, where))
        if kept is not None and now_s < kept.until_s:
            return kept.candidates
        assert self._services.precedents is not None
        found = await self._services.precedents.candidates(tenant, where)
        self._kept[tenant, where] = _Kept(found, now_s + FRESH_S)
        self._kept.move_to_end((tenant, where))
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found
