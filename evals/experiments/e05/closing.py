"""The closing turn of a simulated call, and the product's prompt for it under each label."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.blackboard import Board
from cuecard.clock import LoopClock
from cuecard.context import Context
from cuecard.events import Decided, Event
from cuecard.models.chat import Message
from cuecard.policy import allowed_actions
from cuecard.prefetch.types import Item
from cuecard.services import Services
from cuecard.session import Engine
from cuecard.turn.ask import build_messages
from evals.callers import AgendaCaller, draw_agenda, load_questions, load_wording
from evals.calls.play import Live, play
from sops.loader import find, load_procedure
from sops.tables import load_tables

LABELS = ("speculative", "curated", "no_items")
CLOSES = "close"
"""Kind of the step that ends a call properly."""


@dataclass(slots=True)
class Closing:
    """What the agent saw when the rules closed the call."""

    turn: int
    words: str
    action: str
    """The step that closes."""
    n_items: int
    prompts: dict[str, list[Message]]
    """By label; they differ in how the items are called, or whether there are any."""


async def closing_turn(engine: Engine, sop: str, seed: int) -> Closing | None:
    """Play a call by the rules up to its end; None where no caller took leave and was let go."""
    procedure = load_procedure(sop)
    wording = load_wording(procedure.name)
    rng = random.Random(f"{procedure.name}/{seed}")
    agenda = draw_agenda(procedure, load_tables(find(sop)), wording, load_questions(procedure.name), rng)
    session = await engine.session(sop, session_id=f"label-{procedure.name}-{seed}", context=Context(tenant="label"))
    session.board.kit.broker.forget_results()
    found: list[Closing] = []
    session.log.listeners.append(_watch(session.board, engine.services, found))
    await play(session, Live(AgendaCaller(agenda, wording, rng)), LoopClock())
    return found[-1] if found else None


def _watch(board: Board, services: Services, found: list[Closing]) -> Callable[[Event], Any]:
    def watch(event: Event) -> None:
        if not isinstance(event, Decided) or not board.live.utterance:
            return
        state = board.kit.procedure.states.get(board.live.belief.likely_state)
        if state is None or not state.ends_call or board.kit.procedure.actions[event.action].kind != CLOSES:
            return
        allowed = allowed_actions(board.kit.procedure, board.desk, board.live.belief.likely_state)
        items = [pick.item for pick in board.live.picks if pick.item.kind == "data"]
        prompts = {label: _prompt(board, services, label, allowed, items) for label in LABELS}
        found.append(Closing(board.turn, board.live.utterance, event.action, len(items), prompts))

    return watch


def _prompt(
    board: Board, services: Services, label: str, allowed: Sequence[str], items: Sequence[Item]
) -> list[Message]:
    context = Context(tenant="label", label="curated" if label == "curated" else "speculative")
    return build_messages(board, services, context, allowed, () if label == "no_items" else items)
