"""Whether a yes is one that may be acted on: what is written cannot be taken back, so a doubtful yes is asked again."""

import re

from cuecard.belief.types import Distribution, top
from cuecard.policy.rules import Desk
from sops.models import Procedure

_POLITE = re.compile(
    r"(?i)\b(?:no (?:problem|worries|doubt|objections?|questions?)|not a problem|why not"
    r"|(?:can't|cannot) wait|don't mind|if (?:you (?:could|can|would|will|like|please|don't mind)"
    r"|that's (?:ok|okay|alright|all right|fine))"
    r"|(?:that's|that is|exactly|just) what|(?:when|whenever) you(?:'re| are)? (?:ready|can|like))\b"
)
"""Says nothing against, though it is made of the words below."""
_AGAINST = re.compile(
    r"(?i)\b(?:no|nope|nah|not|never|cannot|\w+n't|but|if|unless|until|though|however|provided|depends"
    r"|as long as|only when|wait|hold on|hang on|one moment|think (?:about|it over)|unsure|maybe|perhaps|guess|actually"
    r"|instead|rather|change|before (?:you|that|we|i)|what|how|which|why|when|where|who)\b|\w+ \w+\W*\?"
)


def unclear(words: str) -> bool:
    """Whether the words that hold a yes also take it back, tie it to something, or ask."""
    plain = words.replace("\u2019", "'")
    return _AGAINST.search(_POLITE.sub(" ", plain)) is not None


ELSE_MEANT = 0.1
"""A state at least this likely is what else the words may have meant."""


def state_to_act_on(procedure: Procedure, desk: Desk, states: Distribution, words: str) -> str:
    """The likeliest state; where it would confirm a write and the words are unclear, what else they may have meant.

    With nothing else likely it is "", on which the rules ask again.
    """
    likely = top(states).name
    yes = {
        state
        for action in procedure.actions.values()
        if action.kind == "write" and action.confirmed_by == desk.last_action
        for state in action.confirm_states
    }
    if likely not in yes or not unclear(words):
        return likely
    other = top({name: p for name, p in states.items() if name not in yes})
    return other.name if other.p >= ELSE_MEANT else ""
