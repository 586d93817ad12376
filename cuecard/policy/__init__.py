"""What the procedure allows: the next action by its rules, and its approved words."""

from cuecard.policy.replies import FilledReply, fill_reply
from cuecard.policy.rules import Choice, Desk, allowed_actions, choose, step_done

__all__ = ["Choice", "Desk", "FilledReply", "allowed_actions", "choose", "fill_reply", "step_done"]
