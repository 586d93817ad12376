import math
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from cuecard.belief import remembered
from cuecard.belief.classifier import EmbeddedClassifier
from cuecard.belief.ear import trained_head
from cuecard.belief.features import Floats
from cuecard.belief.types import Belief
from cuecard.models.embeddings import load_embedder
from cuecard.models.threads import use_one_thread
from sops import Procedure
from sops.models import Cohort, Mood, State

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
    use_one_thread()
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


def test_a_second_start_reads_what_the_first_one_learned(tmp_path: Path, small: Procedure) -> None:
    embed = load_embedder().embed
    embedded: list[str] = []

    def counting(texts: Sequence[str]) -> Floats:
        embedded.extend(texts)
        return embed(texts)

    remembered.forget()
    first = EmbeddedClassifier(small, counting, cache=tmp_path)
    learned = len(embedded)
    remembered.forget()
    second = EmbeddedClassifier(small, counting, cache=tmp_path)
    assert learned > 20
    assert len(embedded) - learned <= 2
    words = ("um no thanks", None, NOBODY)
    assert second.judge_text(*words).state == pytest.approx(first.judge_text(*words).state, abs=0.02)


def test_a_broken_file_in_the_cache_is_learned_again(tmp_path: Path, small: Procedure) -> None:
    remembered.forget()
    EmbeddedClassifier(small, load_embedder().embed, cache=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:1000])
    remembered.forget()
    judged = EmbeddedClassifier(small, load_embedder().embed, cache=tmp_path).judge_text("yes", None, NOBODY)
    assert judged.likely_state == "agrees"


def test_a_procedure_of_a_few_examples_a_state_is_already_understood(small: Procedure) -> None:
    """The shipped bank of speech acts knows what goodbyes and refusals sound like."""
    classifier = EmbeddedClassifier(small, load_embedder().embed)
    said = {
        "mm hmm go ahead": "agrees",
        "nah i'll leave it": "declines",
        "right i'm off cheers": "says_goodbye",
        "could you tell me when you open": "asks_question",
    }
    assert {text: classifier.judge_text(text, None, NOBODY).likely_state for text in said} == said


def test_the_shipped_ear_is_up_to_date() -> None:
    """After a change of the bank or of the features: python -m evals.classify.train_shipped."""
    assert trained_head() is not None


def test_a_caller_who_only_says_yes_stays_unknown(classifier: EmbeddedClassifier, procedure: Procedure) -> None:
    belief = NOBODY
    for _ in range(10):
        belief = classifier.judge_text("yes", "present_quote", belief)
    for name, cohort in procedure.cohorts.items():
        assert belief.cohort[name] == pytest.approx(cohort.prior, abs=0.15)


def test_two_states_of_one_word_and_one_kind_of_caller_are_enough(procedure: Procedure) -> None:
    states = {"yes": State(description="Yes.", examples=("yes",)), "no": State(description="No.", examples=("no",))}
    anyone = {"anyone": Cohort(prior=1.0, description="Anyone.", moods={"calm": Mood(prior=1.0, description="Calm.")})}
    tiny = procedure.model_copy(update={"name": "tiny", "states": states, "cohorts": anyone})
    belief = EmbeddedClassifier(tiny, load_embedder().embed).judge_text("nope", None, NOBODY)
    assert belief.likely_state == "no"
    assert belief.mood == {"anyone/calm": 1.0}


def test_a_call_that_starts_with_hello_is_opened(classifier: EmbeddedClassifier) -> None:
    assert classifier.judge_text("hello", None, NOBODY).likely_state == "opens"
