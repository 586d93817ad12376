"""A typed call through LiveKit Agents, offline: `python examples/livekit_call.py` (needs the extra `livekit`).

In a room, give AgentSession your recogniser and synthesiser as well; nothing else changes.
"""

import asyncio

from livekit.agents import Agent, AgentSession

from cuecard.adapters.livekit import CuecardLLM
from cuecard.session import Engine

CALLER = (
    "hello, I'd like to renew my car insurance",
    "it's policy 343705 and I was born on 8 January 1942",
    "about nine thousand miles a year",
)


async def main() -> list[str]:
    said = []
    async with Engine.open(persist=False) as engine:
        brain = CuecardLLM(await engine.session("insurance_renewal"))
        async with AgentSession(llm=brain) as session:
            brain.listen(session)
            await session.start(Agent(instructions="The procedure speaks; nothing here is read."))
            for words in CALLER:
                print("caller:", words)
                result = await session.run(user_input=words)
                reply = result.expect.next_event().is_message(role="assistant").event().item.text_content or ""
                print("agent: ", reply)
                said.append(reply)
                await asyncio.sleep(1.0)
    return said


if __name__ == "__main__":
    asyncio.run(main())
