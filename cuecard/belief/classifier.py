"""Classify without a model: embeddings, letters and the agent's last action give (cohort, mood, state)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from cuecard.belief.dynamics import Doubles, Dynamics
from cuecard.belief.ear import Ear, Embed, Heard
from cuecard.belief.evidence import Callers
from cuecard.belief.features import Floats
from cuecard.belief.head import log_sum_exp
from cuecard.belief.remembered import heads_for
from cuecard.belief.types import Belief
from cuecard.belief.words import clauses
from sops.models import Procedure

STRANGER_TEMPERATURE = 1.15
"""Extra softness: an author's examples resemble one another more than a stranger's words resemble them."""
PRIOR_POWER = 0.7
TELLING = 0.6
"""How far one utterance that sounds like a kind of caller is believed to tell of one."""
TELLING_WORDS = 5
"""Shorter utterances tell less, by the square: a bare "yes" is nobody's own, however often it comes."""
LONG_WORDS = 14
"""Longer utterances are also judged clause by clause."""
WHOLE_SHARE = 0.5


class EmbeddedClassifier:
    """Belief from words in about half a millisecond, given their embedding. Built once a procedure; immutable."""

    def __init__(
        self,
        procedure: Procedure,
        embed: Embed,
        *,
        cache: Path | None = None,
        stays: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """Trains in a second or two, or reads what an earlier start left in the folder `cache`.

        `stays`: how often each state was observed to last, of how often it was seen.
        """
        self.dynamics = Dynamics(procedure, stays)
        self.callers = Callers(procedure)
        self.states = self.dynamics.states
        self._uniform_log = -np.log(len(self.states))
        self._ear = Ear(embed)
        self._heads = heads_for(procedure, embed, cache)

    def judge(self, vector: Floats, *, last_action: str | None, prior: Belief, text: str = "") -> Belief:
        """The belief after one utterance with this embedding. With its `text`, letters count too."""
        heard = self._ear.hear(vector, text)
        return self._belief(self._state_log_p(heard), heard, text, last_action, prior)

    def judge_text(self, text: str, last_action: str | None, prior: Belief) -> Belief:
        """The same from words alone; long utterances are judged by their clauses too."""
        parts = [part.text for part in clauses(text)] if len(text.split()) > LONG_WORDS else []
        heard = self._ear.hear_all([text, *parts])
        rows = [self._state_log_p(part) for part in heard]
        scores = rows[0]
        if len(parts) > 1:
            scores = np.logaddexp(
                np.log(WHOLE_SHARE) + rows[0],
                np.log((1.0 - WHOLE_SHARE) / len(parts)) + np.logaddexp.reduce(np.stack(rows[1:]), axis=0),
            )
        return self._belief(scores, heard[0], text, last_action, prior)

    def _state_log_p(self, heard: Heard) -> Doubles:
        scores = self._heads.state.scores(*heard).astype(np.float64)
        out: Doubles = scores - log_sum_exp(scores)
        return out

    def _belief(self, scores: Doubles, heard: Heard, text: str, last_action: str | None, prior: Belief) -> Belief:
        expected = self.dynamics.expected(last_action, prior.state)
        state = _softmax(scores / STRANGER_TEMPERATURE + PRIOR_POWER * (np.log(expected) - self._uniform_log))
        joint = self.callers.update(self.callers.start(prior.mood), *self._caller_evidence(heard, text))
        cohort, mood = self.callers.named(joint)
        return Belief(
            cohort=cohort,
            mood=mood,
            state=dict(zip(self.states, state.tolist(), strict=True)),
            p_change=self.dynamics.p_change(last_action, state),
        )

    def _caller_evidence(self, heard: Heard, text: str) -> tuple[Doubles, Doubles]:
        share = min(1.0, len(text.split()) / TELLING_WORDS) ** 2 if text else 1.0
        cohort = _evidence(self._heads.cohort.scores(*heard))
        mood = _evidence(self._heads.mood.scores(*heard))
        return share * cohort, share * mood[self.callers.mood_of]


def _softmax(scores: Doubles) -> Doubles:
    out: Doubles = np.exp(scores - log_sum_exp(scores))
    out /= out.sum()
    return out


def _evidence(scores: Floats) -> Doubles:
    """Log-likelihood ratios of the classes but the last, which is "anybody could say this".

    A caller says what anybody could say most of the time, so the words of class c have likelihood
    (1 - TELLING) P(words | anybody) + TELLING P(words | c): neutral words move nothing, however often they come.
    """
    odds = np.exp(np.clip(scores[:-1].astype(np.float64) - float(scores[-1]), -20.0, 20.0))
    out: Doubles = np.log((1.0 - TELLING) + TELLING * odds)
    return out
