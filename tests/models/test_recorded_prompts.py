"""Every prompt of one short call with a model, recorded word for word: a change of wording shows as a change here.

After a wanted change: `RECORD_PROMPTS=1 pytest tests/models/test_recorded_prompts.py`, and read the difference.
"""

import json
import os
from pathlib import Path

from cuecard.clock import run_virtual
from cuecard.session import Engine
from cuecard.settings import Settings
from tests.fakes import FakeChat, fake_provider, with_model

RECORD = bool(os.environ.get("RECORD_PROMPTS"))
FOLDER = Path(__file__).with_name("recorded")
CALLER = (
    "hello, I'd like to renew my car insurance",
    "it's policy 343705 and I was born on 8 January 1942",
    "does my cover pay for a cracked windscreen?",
)
ANSWERS = (
    "STEP: verify_identity\nOf course. May I have your policy number and date of birth?",
    "STEP: review_policy\nThank you. How many miles a year do you drive?",
    "STEP: answer_question\nYes, a repair costs you 25 pounds. Does that answer it?",
)


def prompts_of(chat: FakeChat) -> list[list[list[str]]]:
    return [[[message.type, str(message.content)] for message in asked] for asked in chat.calls]


def test_the_prompts_of_a_call_are_the_recorded_ones(settings: Settings) -> None:
    fast = fake_provider("recorded-fast", [*ANSWERS, *ANSWERS])
    slow = fake_provider("recorded-slow", ["no JSON"])

    async def call() -> None:
        chosen = with_model(settings, "recorded-fast:x", supervisor_model="recorded-slow:x", prewrite=False)
        async with Engine.open(chosen, persist=False) as engine:
            session = await engine.session("insurance_renewal", session_id="recorded")
            for words in CALLER:
                await session.ask(words)
                await session.settle()

    run_virtual(call())
    for name, chat in (("responder", fast), ("supervisor", slow)):
        path = FOLDER / f"{name}.json"
        made = json.dumps(prompts_of(chat), indent=1, ensure_ascii=False) + "\n"
        if RECORD:
            path.write_text(made, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == made, f"the {name}'s prompts are not the recorded ones"
