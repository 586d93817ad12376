"""What a request means for a call, told from the messages alone."""

from typing import Any

from cuecard.server.placing import Again, Instead, Next, Wish, place, wish_of
from cuecard.session import Past


def past_of(*said: str, key: str = "") -> Past:
    """A call whose turns are caller, agent, caller, agent ...; an empty caller is the agent's greeting."""
    messages: list[Any] = []
    for n, text in enumerate(said):
        if n % 2 == 0 and text:
            messages.append({"type": "human", "content": text, "id": key})
        elif n % 2:
            messages.append({"type": "ai", "content": text})
    return Past(turn=len(said) // 2, messages=tuple(messages))


def request(*texts: str, first: str = "user") -> Wish:
    roles = ["user", "assistant"] if first == "user" else ["assistant", "user"]
    return wish_of([{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)])


def test_the_words_after_the_history_are_the_next_turn() -> None:
    assert place(request("hello", "Hi.", "my policy"), past_of("hello", "Hi.")) == Next("my policy")


def test_a_request_whose_turn_is_taken_already_gets_the_same_reply() -> None:
    past = past_of("hello", "Hi.", "my policy", "Which one?")
    assert place(request("hello", "Hi.", "my policy"), past) == Again("Which one?")


def test_punctuation_that_came_later_does_not_make_a_new_turn() -> None:
    past = past_of("hello", "Hi.", "my policy", "Which one?")
    assert place(request("Hello!", "Hi.", "My policy."), past) == Again("Which one?")


def test_other_final_words_for_the_last_turn_take_its_place() -> None:
    past = past_of("hello", "Hi.", "I want to", "Yes?")
    assert place(request("hello", "Hi.", "I want to renew"), past) == Instead("I want to renew", 2)


def test_one_word_answers_that_repeat_are_turns_of_their_own() -> None:
    past = past_of("yes", "A?", "yes", "B?")
    assert place(request("yes", "A?", "yes", "B?", "yes"), past) == Next("yes")


def test_a_client_without_history_may_say_the_same_twice() -> None:
    past = past_of("hello", "Hi.", "yes", "A?")
    assert place(request("yes"), past) == Next("yes")


def test_a_key_that_was_answered_is_answered_the_same_again() -> None:
    past = past_of("hello", "Hi.", "yes", "A?", key="k")
    assert place(request("yes")._replace(key="k"), past) == Again("A?")


def test_a_key_answered_some_turns_ago_gets_that_reply_and_takes_no_turn() -> None:
    past = Past(
        turn=2,
        messages=(
            {"type": "human", "content": "my policy", "id": "k1"},
            {"type": "ai", "content": "Which one?"},
            {"type": "human", "content": "the car", "id": "k2"},
            {"type": "ai", "content": "Thank you."},
        ),
    )
    assert place(Wish("my policy", key="k1"), past) == Again("Which one?")


def test_only_the_user_role_is_the_caller() -> None:
    roles = ("system", "developer", "tool", "function", "critic")
    told = [{"role": role, "content": "Follow me."} for role in roles]
    wish = wish_of([*told, {"role": "user", "content": "hello"}, *told])
    assert (wish.words, wish.history) == ("hello", ())


def test_a_part_without_text_says_nothing() -> None:
    parts = [{"type": "text", "text": None}, {"type": "input_audio", "input_audio": {}}, {"type": "text", "text": "hi"}]
    assert wish_of([{"role": "user", "content": parts}]).words == "hi"


def test_no_words_open_the_call_and_repeat_the_opening() -> None:
    assert place(wish_of([]), Past()) == Next("")
    assert place(wish_of([{"role": "system", "content": "be kind"}]), past_of("", "Welcome.")) == Again("Welcome.")


def test_the_first_words_after_a_greeting_are_the_next_turn() -> None:
    assert place(request("Welcome.", "hello", first="assistant"), past_of("", "Welcome.")) == Next("hello")


def test_words_that_no_turn_answered_are_answered_along() -> None:
    past = past_of("hello", "Hi.")
    cut_off = request("hello", "Hi.", "my number is 7", "One mo", "and hurry")
    assert place(cut_off, past) == Next("my number is 7 and hurry")


def test_words_before_any_turn_of_ours_are_answered_along() -> None:
    assert place(request("my number is 7", "One mo", "hello?"), Past()) == Next("my number is 7 hello?")


def test_utterances_without_a_reply_between_them_are_one() -> None:
    wish = wish_of([{"role": "user", "content": "I would"}, {"role": "user", "content": "like to renew"}])
    assert wish.words == "I would like to renew"


def test_a_history_that_was_cut_short_is_aligned_from_its_end() -> None:
    past = past_of("one", "A", "two", "B", "three", "C")
    assert place(request("B", "three", "C", "four", first="assistant"), past) == Next("four")
    assert place(request("B", "three", first="assistant"), past_of("one", "A", "two", "B", "three", "C")) != Next("")


def test_content_in_parts_is_read_as_text() -> None:
    parts = [{"type": "text", "text": "hello"}, {"type": "text", "text": "there"}]
    assert wish_of([{"role": "user", "content": parts}]).words == "hello there"
