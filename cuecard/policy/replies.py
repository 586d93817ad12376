"""Approved replies, filled from facts and items. Values are data: inserted once, never read as templates."""

from collections.abc import Mapping
from typing import NamedTuple

from cuecard.prefetch.slots import fill, fill_partly, slots
from sops.models import Action


class FilledReply(NamedTuple):
    text: str
    slots: tuple[str, ...]
    """Slots that were filled, in order of appearance."""


def fill_reply(action: Action, values: Mapping[str, str], *, state: str = "", repeats: int = 0) -> FilledReply:
    """The best approved reply that can be filled: one for a repeat, else for the caller's state, else the usual."""
    for text in (*(action.again if repeats else ()), *action.when.get(state, ()), *action.replies):
        filled = fill(text, values)
        if filled is not None:
            return FilledReply(filled, slots(text))
    # Checked at load: the last variant of every action has no slots. A hand-made procedure may still get here.
    return FilledReply(fill_partly(action.replies[-1], values), ())
