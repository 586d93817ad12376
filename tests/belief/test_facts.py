import time
from collections.abc import Mapping

import pytest

from cuecard.belief.facts import FactExtractor, FactUpdate
from sops import Procedure, load_procedure
from sops.models import Fact


@pytest.fixture(scope="module")
def extractor() -> FactExtractor:
    return FactExtractor(load_procedure("insurance_renewal"))


def values(
    extractor: FactExtractor, text: str, action: str | None = None, known: Mapping[str, str] | None = None
) -> dict[str, str]:
    return {update.name: update.value for update in extractor.extract(text, last_action=action, known=known)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("it's 4 4 7 1 0 9", "447109"),
        ("INS 553120", "553120"),
        ("so that's eight eight two four three one", "882431"),
        ("three one nine double oh six", "319006"),
        ("uh double eight two, four three one", "882431"),
        ("sorry i gave you the wrong one it's 447 019", "447019"),
    ],
)
def test_spoken_and_written_digits_are_the_same_number(extractor: FactExtractor, text: str, value: str) -> None:
    assert values(extractor, text, "verify_identity") == {"policy_number": value}


@pytest.mark.parametrize(
    "text",
    [
        "12/05/1990",
        "the twelfth of may nineteen ninety",
        "May 12th 1990",
        "twelfth may ninety",
    ],
)
def test_a_date_is_stored_in_one_form_however_it_is_said(extractor: FactExtractor, text: str) -> None:
    assert values(extractor, text, "verify_identity") == {"date_of_birth": "12 May 1990"}


def test_one_sentence_can_hold_several_facts(extractor: FactExtractor) -> None:
    text = "my name is gordon peel, INS 553120, born on the second of March 1979"
    assert values(extractor, text, "greet") == {
        "caller_name": "Gordon Peel",
        "policy_number": "553120",
        "date_of_birth": "2 March 1979",
    }


def test_what_is_known_already_is_not_an_update(extractor: FactExtractor) -> None:
    assert (
        extractor.extract("as i said, 553120", last_action="verify_identity", known={"policy_number": "553120"}) == []
    )


def test_another_value_of_a_known_fact_is_a_correction(extractor: FactExtractor) -> None:
    updates = extractor.extract("sorry it's 553 121", last_action="verify_identity", known={"policy_number": "553120"})
    assert updates == [FactUpdate("policy_number", "553121", corrected=True)]


@pytest.mark.parametrize(
    ("text", "known", "value"),
    [
        ("no, it's 882 not 883", "441883", "441882"),
        ("no it's not 883 it's 882 at the end", "441883", "441882"),
        ("no no the last digit is a nine", "441883", "441889"),
        ("it ends in seven two", "441883", "441872"),
        ("not eight eight three, it's eight eight two", "883441", "882441"),
    ],
)
def test_a_part_of_a_number_can_be_put_right(extractor: FactExtractor, text: str, known: str, value: str) -> None:
    updates = extractor.extract(text, last_action="verify_identity", known={"policy_number": known})
    assert updates == [FactUpdate("policy_number", value, corrected=True)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("you've got my birthday wrong it's may not march", "14 May 1985"),
        ("wait no i meant the fourth not the fourteenth", "4 March 1985"),
        ("no my mistake it's nineteen eighty four", "14 March 1984"),
    ],
)
def test_a_part_of_a_date_can_be_put_right(extractor: FactExtractor, text: str, value: str) -> None:
    updates = extractor.extract(text, last_action="verify_identity", known={"date_of_birth": "14 March 1985"})
    assert updates == [FactUpdate("date_of_birth", value, corrected=True)]


@pytest.mark.parametrize(
    "text",
    ["actually the last two claims were mine", "no it may not be right", "sorry i had three last year", "not 99, 12"],
)
def test_other_numbers_and_months_leave_known_facts_alone(extractor: FactExtractor, text: str) -> None:
    known = {"policy_number": "441883", "date_of_birth": "14 March 1985"}
    assert extractor.extract(text, last_action="present_quote", known=known) == []


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("monthly please", "monthly"),
        ("not monthly, annually", "annual"),
        ("not annually sorry i meant by the month", "monthly"),
        ("i said monthly but i meant annual", "annual"),
        ("can i pay it in one go", "annual"),
    ],
)
def test_a_choice_is_what_was_wanted_not_what_was_named(extractor: FactExtractor, text: str, plan: str) -> None:
    assert values(extractor, text, "choose_payment") == {"payment_plan": plan}


@pytest.mark.parametrize(
    "text", ["is there interest on the monthly one", "how much is it monthly", "what does annual mean"]
)
def test_a_question_about_a_choice_does_not_make_it(extractor: FactExtractor, text: str) -> None:
    assert values(extractor, text, "choose_payment") == {}


@pytest.mark.parametrize(
    "text", ["", "   ", "this is ridiculous", "yes please", "it went up by 60 pounds", "{policy_number}"]
)
def test_words_without_a_fact_give_none(extractor: FactExtractor, text: str) -> None:
    assert values(extractor, text, "present_quote") == {}


def test_the_last_of_several_self_corrections_wins(extractor: FactExtractor) -> None:
    text = "four four seven one oh nine, no wait, sorry, four four seven one oh eight"
    assert values(extractor, text, "verify_identity") == {"policy_number": "447108"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("double eight two four three one, no wait, four three two", "882432"),
        ("447 109 sorry 108", "447108"),
        ("it's 447109, actually two minutes please", "447109"),
        ("sorry, it's 447109", "447109"),
    ],
)
def test_the_end_of_a_number_can_be_said_anew_in_the_same_breath(
    extractor: FactExtractor, text: str, value: str
) -> None:
    assert values(extractor, text, "verify_identity") == {"policy_number": value}


@pytest.mark.parametrize(
    "text",
    [
        "1 " * 50_000,
        "double " * 15_000,
        "a" * 100_000,
        "twenty " * 15_000,
        " " * 100_000,
        "not " * 25_000,
        "1-" * 50_000,
    ],
)
def test_a_hundred_kilobytes_of_anything_is_read_in_time(extractor: FactExtractor, text: str) -> None:
    start = time.perf_counter()
    extractor.extract(text, last_action="verify_identity", known={"policy_number": "441883"})
    assert time.perf_counter() - start < 1.0


def test_the_callers_words_are_never_a_pattern(procedure: Procedure) -> None:
    """What the caller says cannot fail or match as a regular expression or a format string."""
    facts = {"note": Fact(description="x", patterns=("note (.+)",), keep="asis")}
    reading = FactExtractor(procedure.model_copy(update={"facts": facts}))
    text = "note (a+)+$ {0.__class__} %s \\1"
    assert values(reading, text) == {"note": "(a+)+$ {0.__class__} %s \\1"}


@pytest.mark.parametrize(
    "words",
    [
        "no wait, my date of birth is 9 January 1942, you have it wrong",
        "I was born on 9 January 1942",
        "actually my birthday is the ninth of January nineteen forty two",
    ],
)
def test_a_birthday_put_right_where_an_amount_was_asked_for_is_no_amount(words: str) -> None:
    renewal = FactExtractor(load_procedure("insurance_renewal"))
    known = {"policy_number": "343705", "date_of_birth": "8 January 1942"}
    updates = renewal.extract(words, last_action="review_policy", known=known)
    assert updates == [FactUpdate("date_of_birth", "9 January 1942", corrected=True)]
    assert renewal.extract("9000 miles", last_action="review_policy", known=known)[0].value == "9000"
