"""Takes facts out of the caller's words, and decides whether the caller is who they say."""

from collections.abc import Collection, Mapping
from typing import Any

from cuecard.blackboard import Board
from cuecard.events import FactLearned
from cuecard.needs import NO_RECORD, meet
from cuecard.prefetch.flight import SessionId
from cuecard.settings import Settings


def learn_facts(board: Board, settings: Settings) -> None:
    """Fill and correct slots. A correction withdraws and invalidates only what was asked with the old value."""
    desk = board.desk
    corrected: set[str] = set()
    for update in board.kit.extractor.extract(
        board.live.utterance, last_action=desk.last_action or None, known=desk.facts
    ):
        desk.facts[update.name] = update.value
        board.live.told.add(update.name)
        if update.corrected:
            corrected.add(update.name)
            desk.fact_epochs[update.name] = desk.fact_epochs.get(update.name, 0) + 1
        desk.repeats = 0  # progress: asking on is no repeating in vain
        value = update.value if settings.log_content else None
        board.log.emit(FactLearned(fact=update.name, corrected=update.corrected, value=value))
    if not corrected:
        return
    board.kit.broker.forget_facts(SessionId(board.tenant, board.session_id), frozenset(corrected))
    board.pool.invalidate(corrected)
    if corrected & board.kit.procedure.verifying:
        desk.verified = False


async def verify(board: Board) -> None:
    """Identity counts as verified once every verifying fact is known and the record on file agrees with them.

    This is the one place where a turn may wait before it has decided: what comes next hangs on it.
    """
    desk, procedure = board.desk, board.kit.procedure
    verifying = procedure.verifying
    if desk.verified or not verifying or not verifying <= desk.facts.keys():
        return
    if procedure.verify_with is None:
        desk.verified = True
        return
    given = {fact: desk.facts[fact] for fact in sorted(verifying)}
    if given == desk.refused:
        return
    met = await meet(board, procedure.verify_with, action="verify", words="", vector=None, hold=board.hold)
    board.live.stall_s += met.stall_s
    if met.item is not None:
        desk.verified = _borne_out(given, met.item.data, procedure.dependencies[procedure.verify_with].requires)
    # A source that failed may answer next time; one that answered has answered.
    answered = met.item is not None or met.reason == NO_RECORD
    desk.refused = given if answered and not desk.verified else {}


def _borne_out(given: Mapping[str, str], record: Mapping[str, Any], asked_with: Collection[str]) -> bool:
    """Whether the record says so of every fact. Of one that it does not hold, only having been found by it is proof."""
    return all(same(value, record[fact]) if fact in record else fact in asked_with for fact, value in given.items())


def same(said: str, on_file: object) -> bool:
    """Whether two values mean the same, however they are spaced or cased."""
    return "".join(said.split()).casefold() == "".join(str(on_file).split()).casefold()
