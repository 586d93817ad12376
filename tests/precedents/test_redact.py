"""What could name a person is out before anything is kept; what the sentence is about stays."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from cuecard.precedents import Precedents, Redactor
from cuecard.precedents.engine import reading
from cuecard.precedents.schema import words
from tests.precedents.calls import turn, vector


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Mail it to Ann.Lee@mail.example.com please", "Mail it to {email} please"),
        ("my number is 0151 234-5678", "my number is {number}"),
        ("it's +44 (20) 7946 0958", "it's {number}"),
        ("policy AB-123456", "policy {number}"),
        ("the plate is K 882 XY", "the plate is K {number} XY"),
        ("born on 12/03/1981", "born on {number}"),
        ("it ends in four four seven one", "it ends in {number}"),
        ("see https://example.com/me?id=3", "see {link}"),
        ("I have 2 cars", "I have {digits} cars"),
        ("Can I renew for one or two years?", "Can I renew for one or two years?"),
        ("What does the excess cover", "What does the excess cover"),
    ],
)
def test_patterns(said: str, kept: str) -> None:
    assert Redactor().redact(said, {}) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I'm Maria Lopez, hello", "I'm {name}, hello"),
        ("this is MARIA  LOPEZ", "this is {name}"),
        ("Maria speaking", "{name} speaking"),
        ("plate KX 82 ABC it is", "plate {plate} it is"),
        ("kx82abc", "{plate}"),
        ("Mariana is my daughter", "Mariana is my daughter"),
    ],
)
def test_known_personal_facts_become_their_names(said: str, kept: str) -> None:
    assert Redactor().redact(said, {"name": "Maria Lopez", "plate": "KX82ABC", "yes": "y"}) == kept


async def test_neither_words_nor_vector_of_what_was_said_reach_the_database(store: Precedents) -> None:
    cleaning = Precedents(store._writer, store._reader, store._clock, Redactor(), None)
    said = turn("s", 0, "a", utterance="I'm Maria Lopez", reply="Hello Maria Lopez", embedding=vector(1))
    other = turn("s", 1, "b", utterance="What does it cover?", embedding=vector(2))
    await cleaning.record([replace(one, facts={"name": "Maria Lopez"}) for one in (said, other)])
    assert all("Maria" not in str(waiting) for waiting in cleaning._waiting)
    await cleaning.flush()
    with reading(store._reader.engine) as connection:
        rows = connection.execute(select(words).order_by(words.c.turn)).all()
    assert (rows[0].utterance, rows[0].reply) == ("I'm {name}", "Hello {name}")
    assert rows[0].embedding is None
    assert rows[1].utterance == "What does it cover?"
    assert rows[1].embedding is not None
