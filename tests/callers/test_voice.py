import random

import pytest

from cuecard.models.chat import Chat
from evals.callers import Agenda, CallerTurn
from evals.callers.noise import Noise
from evals.callers.voice import ModelVoice, says_the_same
from sops import load_procedure
from tests.fakes import FakeChat

PROCEDURE = load_procedure("insurance_renewal")
AGENDA = Agenda("loyal_renewer", "content", "renew", "done", noise=Noise(0.0, 0.0, 0.0, 0.0, 0.0))
TURN = CallerTurn("My number is 343705.", "My number is 343705.", "gives", 6.0, 1.2, gold=("a",))


def _voice(*replies: object) -> tuple[ModelVoice, FakeChat]:
    model = FakeChat(replies=list(replies))
    return ModelVoice(Chat(model, 2.0, len), PROCEDURE, AGENDA, random.Random(0)), model


async def test_the_model_says_what_the_agenda_decided_in_its_own_words() -> None:
    voice, model = _voice('"Right, that would be\n343705."')
    said = await voice.say(TURN, "May I have your number?")
    assert said.words == "Right, that would be 343705."
    assert (said.act, said.gold, said.turn_s) == (TURN.act, TURN.gold, TURN.turn_s)
    assert len(said.interims) == 4
    prompt = str(model.calls[-1][0].content)
    assert "343705" in prompt
    assert "May I have your number?" in prompt
    assert PROCEDURE.cohorts["loyal_renewer"].description in prompt


@pytest.mark.parametrize(
    "reply", ["It's 343706.", "Here you go.", "", RuntimeError("no"), ValueError("down"), "so " * 60]
)
async def test_a_rewording_that_cannot_be_used_is_replaced_by_the_written_line(reply: object) -> None:
    if isinstance(reply, RuntimeError):
        reply = OSError("the endpoint is gone")
    voice, _ = _voice(reply)
    assert await voice.say(TURN, "") == TURN
    assert voice.written == 1


async def test_a_silent_turn_stays_silent() -> None:
    voice, model = _voice("Hello?")
    silent = CallerTurn("", "", "hangs_up", 3.0, 0.0, hangs_up=True)
    assert await voice.say(silent, "Hello?") == silent
    assert model.calls == []


def test_values_must_survive_and_none_may_be_added() -> None:
    assert says_the_same("born on 8 January 1942", "It was the day of 8 January, in 1942")
    assert not says_the_same("born on 8 January 1942", "born on 8 June 1942")
    assert not says_the_same("yes please", "yes please, all 3 of them")
    assert says_the_same("yes please", "Oh yes, do that")
