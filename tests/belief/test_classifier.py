import math
import time

import pytest

from cuecard.belief.classifier import EmbeddedClassifier
from cuecard.belief.types import Belief
from cuecard.models.embeddings import load_embedder
from sops import Procedure

NOBODY = Belief()


def test_a_plain_question_is_judged_as_one(classifier: EmbeddedClassifier) -> None:
    belief = classifier.judge_text("um does it cover me if i drive over to france", "present_quote", NOBODY)
    assert belief.likely_state == "asks_question"


def test_the_same_words_mean_different_things_after_different_actions(classifier: EmbeddedClassifier) -> None:
    after_greeting = classifier.judge_text("the renewal", "greet", NOBODY)
    after_payment = classifier.judge_text("the renewal", "choose_payment", NOBODY)
    assert after_greeting.state["opens"] > after_payment.state["opens"] + 0.1


def test_probabilities_add_up_to_one(classifier: EmbeddedClassifier) -> None:
    belief = classifier.judge_text("yes but no", None, NOBODY)
    for distribution in (belief.state, belief.cohort, belief.mood):
        assert math.isclose(sum(distribution.values()), 1.0, abs_tol=1e-6)
        assert all(p >= 0.0 for p in distribution.values())
    for cohort, p in belief.cohort.items():
        moods = sum(q for key, q in belief.mood.items() if key.startswith(f"{cohort}/"))
        assert math.isclose(moods, p, abs_tol=1e-6)


def test_one_sentence_does_not_flip_the_cohort_but_several_do(classifier: EmbeddedClassifier) -> None:
    belief = NOBODY
    for text in ("same as every year please", "i've been with you for ages", "just do what we did last time"):
        belief = classifier.judge_text(text, None, belief)
    settled = belief.likely_cohort
    assert settled == "loyal_renewer"
    once = classifier.judge_text("someone drove into the back of me in february", None, belief)
    assert once.likely_cohort == settled
    again = once
    for text in ("the claim is still open", "it was not my fault, he hit me", "will the accident count against me"):
        again = classifier.judge_text(text, None, again)
    assert again.likely_cohort == "recent_claimant"


@pytest.mark.parametrize("text", ["", "   ", "?!", "żółć 日本語 🚗", "a" * 20_000, "yes " * 5_000])
def test_odd_words_still_give_a_belief(classifier: EmbeddedClassifier, text: str) -> None:
    belief = classifier.judge_text(text, "no_such_action", NOBODY)
    assert math.isclose(sum(belief.state.values()), 1.0, abs_tol=1e-6)
    assert 0.0 < belief.p_change < 1.0


def test_a_caller_is_expected_to_move_on_from_an_answer(classifier: EmbeddedClassifier) -> None:
    belief = classifier.judge_text("yes that's all right", "review_policy", NOBODY)
    assert belief.p_change > 0.3


def test_the_judgement_is_fast_enough_for_the_responder(classifier: EmbeddedClassifier) -> None:
    text = "yeah no that's fine but what about my daughter she passed her test in march"
    vector = load_embedder().embed([text])[0]
    laps = []
    for _ in range(50):
        start = time.perf_counter()
        classifier.judge(vector, last_action="present_quote", prior=NOBODY, text=text)
        laps.append(time.perf_counter() - start)
    assert min(laps) < 0.001


def test_the_embedding_alone_is_enough_for_a_judgement(classifier: EmbeddedClassifier, procedure: Procedure) -> None:
    vector = load_embedder().embed(["could i talk to a real person please"])[0]
    belief = classifier.judge(vector, last_action=None, prior=NOBODY)
    assert belief.likely_state == "wants_person"
    assert set(belief.state) == set(procedure.states)
