"""Whether words are clear enough for what cannot be taken back: a write on a yes, and handing the caller over."""

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
A_QUESTION = 0.05
"""A question this likely is answered before anybody is handed over: an answer costs a turn, the other the call."""
SURE_TO_LEAVE = 0.7
"""Below this likelihood a wish for a person has to be said again (decision 0212)."""


def state_to_act_on(procedure: Procedure, desk: Desk, states: Distribution, words: str) -> str:
    """The likeliest state, unless it leads to what cannot be taken back and is in doubt: then what else was meant.

    With nothing else likely it is "", on which the rules ask again.
    """
    likely = top(states)
    yes, leaving = _confirming(procedure, desk), _leaving(procedure)
    if likely.name in leaving and likely.p < SURE_TO_LEAVE and desk.last_state != likely.name:
        question = top({name: p for name, p in states.items() if name in _asking(procedure)})
        if question.p >= A_QUESTION:
            return question.name
        return _else_meant(states, yes | leaving)
    if likely.name in yes and unclear(words):
        return _else_meant(states, yes)
    return likely.name


def _else_meant(states: Distribution, without: set[str]) -> str:
    other = top({name: p for name, p in states.items() if name not in without})
    return other.name if other.p >= ELSE_MEANT else ""


def _confirming(procedure: Procedure, desk: Desk) -> set[str]:
    """States that would confirm a write now."""
    return {
        state
        for action in procedure.actions.values()
        if action.kind == "write" and action.confirmed_by == desk.last_action
        for state in action.confirm_states
    }


def _leaving(procedure: Procedure) -> set[str]:
    """States that end the call with a person, wherever it stands; callers who are worried are never held up."""
    return {
        state
        for state, action in procedure.always.items()
        if action in procedure.actions
        and procedure.actions[action].kind == "hand_over"
        and procedure.states[state].affect != "worried"
    }


def _asking(procedure: Procedure) -> set[str]:
    return {name for name, state in procedure.states.items() if state.asks}
