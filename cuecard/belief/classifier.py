"""Classify without a model: embeddings, letters and the agent's last action give (cohort, mood, state)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cuecard.belief.dynamics import Doubles, Dynamics
from cuecard.belief.ear import Ear, Embed, Heard
from cuecard.belief.evidence import Callers
from cuecard.belief.features import Floats
from cuecard.belief.head import Fitted, Ints, Rows, Weights, fit, log_sum_exp
from cuecard.belief.types import Belief
from cuecard.belief.words import clauses
from sops.models import Procedure

STATE_WEIGHTS = Weights(embedding=1.0, ngrams=0.8, dense=0.4, ridge=1.0)
CALLER_WEIGHTS = Weights(embedding=1.0, ngrams=0.6, dense=0.2, ridge=1.0)
DESCRIPTION_WEIGHT = 0.5
STRANGER_TEMPERATURE = 1.15
"""Extra softness: an author's examples resemble one another more than a stranger's words resemble them."""
PRIOR_POWER = 0.5
ANYBODY = 3.0
"""What anybody could say weighs as much as this many kinds of caller, when they are learned."""
TELLING = 0.6
"""How far one utterance that sounds like a kind of caller is believed to tell of one."""
LONG_WORDS = 14
"""Longer utterances are also judged clause by clause."""
WHOLE_SHARE = 0.5


class EmbeddedClassifier:
    """Belief from words in about half a millisecond, given their embedding. Built once a procedure; immutable."""

    def __init__(self, procedure: Procedure, embed: Embed, stays: Mapping[str, tuple[int, int]] | None = None) -> None:
        self.dynamics = Dynamics(procedure, stays)
        self.callers = Callers(procedure)
        self.states = self.dynamics.states
        self._uniform_log = -np.log(len(self.states))
        self._ear = Ear(embed)
        self.state_fit = _fit_states(procedure, self._ear)
        self._cohort_fit = _fit_cohorts(procedure, self._ear)
        self._mood_fit, self._mood_class = _fit_moods(procedure, self.callers.keys, self._ear)

    def judge(self, vector: Floats, *, last_action: str | None, prior: Belief, text: str = "") -> Belief:
        """The belief after one utterance with this embedding. With its `text`, letters count too."""
        heard = self._ear.hear(vector, text)
        return self._belief(self._state_log_p(heard), heard, last_action, prior)

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
        return self._belief(scores, heard[0], last_action, prior)

    def _state_log_p(self, heard: Heard) -> Doubles:
        scores = self.state_fit.head.scores(*heard).astype(np.float64)
        out: Doubles = scores - log_sum_exp(scores)
        return out

    def _belief(self, scores: Doubles, heard: Heard, last_action: str | None, prior: Belief) -> Belief:
        expected = self.dynamics.expected(last_action, prior.state)
        state = _softmax(scores / STRANGER_TEMPERATURE + PRIOR_POWER * (np.log(expected) - self._uniform_log))
        joint = self.callers.update(self.callers.start(prior.mood), *self._caller_evidence(heard))
        cohort, mood = self.callers.named(joint)
        return Belief(
            cohort=cohort,
            mood=mood,
            state=dict(zip(self.states, state.tolist(), strict=True)),
            p_change=self.dynamics.p_change(last_action, state),
        )

    def _caller_evidence(self, heard: Heard) -> tuple[Doubles, Doubles]:
        cohort = _evidence(self._cohort_fit.head.scores(*heard))
        mood = _evidence(self._mood_fit.head.scores(*heard))
        return cohort, mood[self._mood_class]


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


class _Said(NamedTuple):
    text: str
    label: int
    trust: float


def _fit_states(procedure: Procedure, ear: Ear) -> Fitted:
    said: list[_Said] = []
    for label, state in enumerate(procedure.states.values()):
        said.append(_Said(state.description, label, DESCRIPTION_WEIGHT))
        said += [_Said(example, label, 1.0) for example in state.examples]
    return fit(_rows(said, ear), len(procedure.states), STATE_WEIGHTS)


def _with_anybody(said: list[_Said], procedure: Procedure) -> list[_Said]:
    """One more class, of what tells nothing of who is calling: the examples of the states."""
    label = max(one.label for one in said) + 1
    plain = [example for state in procedure.states.values() for example in state.examples]
    trust = ANYBODY * sum(one.trust for one in said) / label / len(plain)
    return [*said, *(_Said(example, label, trust) for example in plain)]


def _fit_cohorts(procedure: Procedure, ear: Ear) -> Fitted:
    said: list[_Said] = []
    for label, cohort in enumerate(procedure.cohorts.values()):
        said.append(_Said(cohort.description, label, 1.0))
        said += [_Said(example, label, 1.0) for example in cohort.examples]
    return fit(_rows(_with_anybody(said, procedure), ear), len(procedure.cohorts) + 1, CALLER_WEIGHTS)


def _fit_moods(procedure: Procedure, keys: Sequence[str], ear: Ear) -> tuple[Fitted, Ints]:
    """One class a mood name: what "hurried" sounds like is shared between cohorts."""
    names = sorted({key.partition("/")[2] for key in keys})
    said: list[_Said] = []
    for cohort in procedure.cohorts.values():
        for name, mood in cohort.moods.items():
            said.append(_Said(mood.description, names.index(name), DESCRIPTION_WEIGHT))
            said += [_Said(example, names.index(name), 1.0) for example in mood.examples]
    fitted = fit(_rows(_with_anybody(said, procedure), ear), len(names) + 1, CALLER_WEIGHTS)
    return fitted, np.array([names.index(key.partition("/")[2]) for key in keys])


def _rows(said: Sequence[_Said], ear: Ear) -> Rows:
    heard = ear.hear_all([one.text for one in said])
    return Rows(
        vectors=np.stack([one.vector for one in heard]),
        sparse=[one.sparse for one in heard],
        dense=np.stack([one.dense for one in heard]),
        labels=np.array([one.label for one in said]),
        groups=np.arange(len(said)),
        weight=np.array([one.trust for one in said]),
    )
