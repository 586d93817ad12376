"""What a turn's step needs is fetched while a model still chooses the step: the longer of the two, not their sum."""

from pathlib import Path

import evals.toolturn
from cuecard.clock import run_virtual
from cuecard.context import Context
from cuecard.events import NeedResolved
from cuecard.prefetch.events import FetchStarted
from cuecard.session import Engine, Session
from cuecard.settings import Settings
from evals.toolturn.source import TOOL_S
from tests.fakes import fake_provider, with_model

PARCELS = str(Path(evals.toolturn.__file__).with_name("parcel_desk.yaml"))
CHOOSES_S = 0.5


async def asked(settings: Settings, procedure: str, words: str) -> tuple[Session, float]:
    async with Engine.open(settings, persist=False) as engine:
        session = await engine.session(procedure, context=Context(procedure=procedure, prefetch="none"))
        await session.greet()
        clock = engine.services.clock
        began_s = clock.now()
        async for _ in session.say(words):
            pass
        return session, clock.now() - began_s


def test_a_need_is_fetched_beside_the_choice_of_its_step(settings: Settings) -> None:
    step = "STEP: tell_whereabouts\nIt comes tomorrow."
    fake_provider("slow-chooser", [CHOOSES_S, step, step])
    session, took_s = run_virtual(
        asked(with_model(settings, "slow-chooser:x", supervisor_model="none"), PARCELS, "where is my parcel")
    )
    (need,) = session.log.of(NeedResolved)
    assert isinstance(need, NeedResolved)
    assert (need.how, round(need.stall_s, 1)) == ("joined", 3.4)
    assert took_s < TOOL_S + 0.1


def test_nothing_about_a_person_is_fetched_beside_the_choice_before_identity_is_verified(settings: Settings) -> None:
    fake_provider("chooser", ["STEP: verify_identity\nMay I have your policy number?"])
    session, _ = run_virtual(
        asked(with_model(settings, "chooser:x", supervisor_model="none"), "insurance_renewal", "I'd like to renew")
    )
    procedure = session.board.kit.procedure
    begun = {event.dep for event in session.log.events if isinstance(event, FetchStarted)}
    assert not [dep for dep in begun if procedure.dependencies[dep].verified]
    assert not [dep for dep in begun if procedure.dependencies[dep].effect == "write"]
