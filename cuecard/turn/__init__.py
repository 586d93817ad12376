"""One turn of the agent: facts out of words, identity, the choice of a step, the reply, and the books."""

from cuecard.turn.close import close_turn
from cuecard.turn.facts import learn_facts, verify
from cuecard.turn.prewrite import prewrite
from cuecard.turn.route import Decision, route
from cuecard.turn.speak import Said, speak

__all__ = ["Decision", "Said", "close_turn", "learn_facts", "prewrite", "route", "speak", "verify"]
