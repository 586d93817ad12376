import random

from evals.callers.noise import Noise, draw_noise, garble
from evals.callers.timing import LONGEST_S, MEDIAN_S, P10_S, P90_S, draw_turn_s, interims, long_enough, speech_s


def test_pauses_have_the_quantiles_of_recorded_calls() -> None:
    rng = random.Random(3)
    drawn = sorted(draw_turn_s(rng) for _ in range(40_000))
    assert abs(drawn[4_000] - P10_S) < 0.1
    assert abs(drawn[20_000] - MEDIAN_S) < 0.2
    assert abs(drawn[36_000] - P90_S) < 1.0
    assert drawn[-1] <= LONGEST_S


def test_words_fit_into_the_turn_however_short_it_is() -> None:
    assert speech_s("yes", 8.0) < 1.0
    many = " ".join(["word"] * 60)
    turn_s = long_enough(many, 2.0)
    assert turn_s > speech_s(many, turn_s) > 60 / 5
    assert long_enough("yes", 2.0) == 2.0


def test_the_transcript_grows_word_by_word_and_ends_before_the_last() -> None:
    words = "my policy number is 343705 and I was born in May"
    heard = interims(words, 3.0, random.Random(1))
    assert len(heard) == len(words.split()) - 1
    assert [one.at_s for one in heard] == sorted(one.at_s for one in heard)
    assert 0.0 < heard[0].at_s < heard[-1].at_s < 3.0
    assert all(words.startswith(one.text) for one in heard)


def test_a_clean_line_changes_nothing() -> None:
    quiet = Noise(0.0, 0.0, 0.0, 0.0, 0.0)
    assert garble("Hello, it's 343705.", quiet, random.Random(0)) == "Hello, it's 343705."


def test_a_bare_line_has_no_capitals_and_no_punctuation_around_words() -> None:
    bare = Noise(0.0, 0.0, 0.0, 0.0, 0.0, bare=True)
    assert garble("Yes, I'm sure: 12,500 miles.", bare, random.Random(0)) == "yes i'm sure 12,500 miles"


def test_a_bad_line_changes_some_words_and_never_loses_all() -> None:
    rng = random.Random(5)
    bad = Noise(0.05, 0.04, 0.05, 0.3, 0.01)
    sentence = "I would like to renew the cover for my car and pay by card"
    heard = [garble(sentence, bad, rng) for _ in range(100)]
    assert sum(one != sentence for one in heard) > 80
    assert all("car" in one for one in heard)
    assert garble("the", Noise(p_drop=1.0), rng)


def test_lines_differ_between_callers() -> None:
    rng = random.Random(0)
    assert len({draw_noise(rng) for _ in range(50)}) > 3
