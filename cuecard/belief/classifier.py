"""Classify without a model: embeddings, letters and the agent's last action give (cohort, mood, state)."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cuecard.belief.dynamics import Doubles, Dynamics
from cuecard.belief.evidence import Callers
from cuecard.belief.features import Floats, text_features
from cuecard.belief.head import Fitted, Ints, Rows, Weights, fit, log_sum_exp
from cuecard.belief.types import Belief
from cuecard.belief.words import clauses
from sops.models import Procedure

Embed = Callable[[Sequence[str]], Floats]

STATE_WEIGHTS = Weights(embedding=1.0, ngrams=0.6, dense=0.4, ridge=1.0)
CALLER_WEIGHTS = Weights(embedding=1.0, ngrams=0.4, dense=0.4, ridge=3.0)
DESCRIPTION_WEIGHT = 0.5
STRANGER_TEMPERATURE = 1.15
"""Extra softness: an author's examples resemble one another more than a stranger's words resemble them."""
PRIOR_POWER = 0.8
CALLER_POWER = 0.7
"""Part of a caller head's log ratio that is believed; its classes are learned from a few sentences each."""
LONG_WORDS = 14
"""Longer utterances are also judged clause by clause."""
WHOLE_SHARE = 0.5


class EmbeddedClassifier:
    """Belief from words in well under a millisecond, given their embedding. Built once a procedure; immutable."""

    def __init__(self, procedure: Procedure, embed: Embed, stays: Mapping[str, tuple[int, int]] | None = None) -> None:
        self._embed = embed
        self.dynamics = Dynamics(procedure, stays)
        self.callers = Callers(procedure)
        self.states = self.dynamics.states
        self._uniform_log = -np.log(len(self.states))
        self.state_fit = _fit_states(procedure, embed)
        self._cohort_fit = _fit_cohorts(procedure, embed)
        self._mood_fit, self._mood_class = _fit_moods(procedure, self.callers.keys, embed)

    def judge(self, vector: Floats, *, last_action: str | None, prior: Belief, text: str = "") -> Belief:
        """The belief after one utterance with this embedding. With its `text`, letters count too."""
        sparse, dense = text_features(text)
        return self._belief(self.state_fit.head.scores(vector, sparse, dense), vector, text, last_action, prior)

    def judge_text(self, text: str, last_action: str | None, prior: Belief) -> Belief:
        """The same from words alone; long utterances are judged by their clauses too."""
        parts = [part.text for part in clauses(text)] if len(text.split()) > LONG_WORDS else []
        vectors = self._embed([text, *parts])
        rows = [self._state_log_p(vector, part) for vector, part in zip(vectors, [text, *parts], strict=True)]
        scores = rows[0]
        if len(parts) > 1:
            scores = np.logaddexp(
                np.log(WHOLE_SHARE) + rows[0],
                np.log((1.0 - WHOLE_SHARE) / len(parts)) + np.logaddexp.reduce(np.stack(rows[1:]), axis=0),
            )
        return self._belief(scores, vectors[0], text, last_action, prior)

    def _state_log_p(self, vector: Floats, text: str) -> Doubles:
        scores = self.state_fit.head.scores(vector, *text_features(text)).astype(np.float64)
        out: Doubles = scores - log_sum_exp(scores)
        return out

    def _belief(
        self, scores: Floats | Doubles, vector: Floats, text: str, last_action: str | None, prior: Belief
    ) -> Belief:
        expected = self.dynamics.expected(last_action, prior.state)
        state = _softmax(scores / STRANGER_TEMPERATURE + PRIOR_POWER * (np.log(expected) - self._uniform_log))
        joint = self.callers.update(self.callers.start(prior.mood), *self._caller_evidence(vector, text))
        cohort, mood = self.callers.named(joint)
        return Belief(
            cohort=cohort,
            mood=mood,
            state=dict(zip(self.states, state.tolist(), strict=True)),
            p_change=self.dynamics.p_change(last_action, state),
        )

    def _caller_evidence(self, vector: Floats, text: str) -> tuple[Doubles, Doubles]:
        features = text_features(text)
        cohort = _log_ratio(self._cohort_fit.head.scores(vector, *features))
        mood = _log_ratio(self._mood_fit.head.scores(vector, *features))
        return CALLER_POWER * cohort, CALLER_POWER * mood[self._mood_class]


def _softmax(scores: Doubles) -> Doubles:
    out: Doubles = np.exp(scores - log_sum_exp(scores))
    out /= out.sum()
    return out


def _log_ratio(scores: Floats) -> Doubles:
    """log of P(class | words) over its share in training, where classes weigh alike."""
    wide = scores.astype(np.float64)
    out: Doubles = wide - log_sum_exp(wide) + np.log(len(wide))
    return out


def _fit_states(procedure: Procedure, embed: Embed) -> Fitted:
    texts, labels, weight = [], [], []
    for label, state in enumerate(procedure.states.values()):
        for text, trust in [(state.description, DESCRIPTION_WEIGHT), *((example, 1.0) for example in state.examples)]:
            texts.append(text)
            labels.append(label)
            weight.append(trust)
    return fit(_rows(texts, labels, weight, embed), len(procedure.states), STATE_WEIGHTS)


def _fit_cohorts(procedure: Procedure, embed: Embed) -> Fitted:
    texts, labels, weight = [], [], []
    for label, cohort in enumerate(procedure.cohorts.values()):
        for text, trust in [(cohort.description, 1.0), *((example, 1.0) for example in cohort.examples)]:
            texts.append(text)
            labels.append(label)
            weight.append(trust)
    return fit(_rows(texts, labels, weight, embed), len(procedure.cohorts), CALLER_WEIGHTS)


def _fit_moods(procedure: Procedure, keys: Sequence[str], embed: Embed) -> tuple[Fitted, Ints]:
    """One class a mood name: what "hurried" sounds like is shared between cohorts."""
    names = sorted({key.partition("/")[2] for key in keys})
    texts, labels, weight = [], [], []
    for cohort in procedure.cohorts.values():
        for name, mood in cohort.moods.items():
            for text, trust in [(mood.description, DESCRIPTION_WEIGHT), *((example, 1.0) for example in mood.examples)]:
                texts.append(text)
                labels.append(names.index(name))
                weight.append(trust)
    fitted = fit(_rows(texts, labels, weight, embed), len(names), CALLER_WEIGHTS)
    return fitted, np.array([names.index(key.partition("/")[2]) for key in keys])


def _rows(texts: Sequence[str], labels: Sequence[int], weight: Sequence[float], embed: Embed) -> Rows:
    features = [text_features(text) for text in texts]
    return Rows(
        vectors=embed(texts),
        sparse=[sparse for sparse, _ in features],
        dense=np.stack([dense for _, dense in features]),
        labels=np.array(labels),
        groups=np.arange(len(texts)),
        weight=np.array(weight, np.float64),
    )
