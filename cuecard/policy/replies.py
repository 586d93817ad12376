"""Approved replies, filled from facts and items. Values are data: inserted once, never read as templates."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cuecard.prefetch.slots import fill, fill_partly, slots
from sops.models import Action


class FilledReply(NamedTuple):
    text: str
    slots: tuple[str, ...]
    """Slots that were filled, in order of appearance."""


def fill_reply(
    action: Action, values: Mapping[str, str], *, repeats: int = 0, pick: int = 0, state: str = ""
) -> FilledReply:
    """The best approved reply that can be filled; `pick` varies the wording among those as rich as the best one.

    Words kept for the caller's state come first, then those for a repeated step, then the ordinary ones.
    """
    variants: Sequence[str] = action.again if repeats and action.again else action.replies
    for candidates in (() if repeats else action.when.get(state, ()), variants, action.replies):
        filled = [(text, slots(text)) for text in candidates if fill(text, values) is not None]
        if filled:
            best = [item for item in filled if set(item[1]) == set(filled[0][1])]
            text, names = best[pick % len(best)]
            return FilledReply(fill(text, values) or "", names)
    # Checked at load: the last variant of every action has no slots. A hand-made procedure may still get here.
    return FilledReply(fill_partly(action.replies[-1], values), ())
