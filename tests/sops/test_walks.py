"""The shipped procedures walked by their rules alone: no words, no model, only caller states and facts."""

import pytest

from cuecard.policy import Desk, choose, step_done
from sops.loader import load_procedure, names
from sops.models import Procedure


@pytest.fixture(params=names())
def procedure(request: pytest.FixtureRequest) -> Procedure:
    return load_procedure(str(request.param))


def take(procedure: Procedure, desk: Desk, state: str) -> str:
    """One turn: the rules choose, and the desk notes it as the responder would."""
    action = choose(procedure, desk, state).action
    desk.repeats = desk.repeats + 1 if action == desk.last_action else 0
    desk.last_action = action
    if action not in desk.done:
        desk.done.append(action)
    return action


def give_all(procedure: Procedure, desk: Desk, action: str) -> None:
    """The caller answers what the step asked for, and identity is proven once it can be."""
    for fact in procedure.actions[action].asks:
        desk.facts[fact] = "known"
    desk.verified = procedure.verifying <= desk.facts.keys()


def walk_to_the_end(procedure: Procedure, desk: Desk) -> list[str]:
    """A willing caller: gives what is asked, agrees to everything else."""
    taken: list[str] = []
    for _ in range(15):
        asked = procedure.actions[desk.last_action].asks
        give_all(procedure, desk, desk.last_action)
        taken.append(take(procedure, desk, "gives_details" if asked else "agrees"))
        if procedure.actions[taken[-1]].kind == "close":
            break
    return taken


def test_a_willing_caller_gets_what_they_called_for(procedure: Procedure) -> None:
    taken = walk_to_the_end(procedure, Desk(last_action=procedure.start))
    outcomes = [procedure.actions[action].outcome for action in taken]
    assert "success" in outcomes
    assert procedure.actions[taken[-1]].kind == "close"
    assert len(taken) == len(set(taken)), f"no step needs to come twice: {taken}"
    write = next(action for action in taken if procedure.actions[action].kind == "write")
    assert taken[taken.index(write) - 1] == procedure.actions[write].confirmed_by


def test_a_question_at_any_step_is_answered_and_the_path_resumed(procedure: Procedure) -> None:
    answers = {name for name, action in procedure.actions.items() if action.kind == "answer"}
    for step in procedure.path[:-2]:
        desk = Desk(last_action=step)
        for earlier in procedure.path[: procedure.path.index(step)]:
            give_all(procedure, desk, earlier)
            desk.done.append(earlier)
        assert take(procedure, desk, "asks_question") in answers
        assert take(procedure, desk, "agrees") == step if procedure.actions[step].asks else True


def test_every_state_after_every_action_has_a_next_step(procedure: Procedure) -> None:
    for action in procedure.actions:
        for state in procedure.states:
            for facts in ({}, dict.fromkeys(procedure.facts, "known")):
                desk = Desk(last_action=action, facts=dict(facts), verified=bool(facts))
                chosen = procedure.actions[choose(procedure, desk, state).action]
                assert desk.verified or not chosen.verified, (action, state)
                assert set(chosen.requires) <= facts.keys(), (action, state)


def test_goodbye_closes_from_any_action_that_was_not_just_answered(procedure: Procedure) -> None:
    for action in procedure.actions:
        chosen = choose(procedure, Desk(last_action=action), "says_goodbye").action
        assert procedure.actions[chosen].kind == "close"


def test_a_caller_who_gives_what_was_asked_is_not_hung_up_on(procedure: Procedure) -> None:
    asking = [name for name in procedure.path if procedure.actions[name].asks]
    for step in asking:
        desk = Desk(last_action=step)
        for earlier in procedure.path[: procedure.path.index(step) + 1]:
            give_all(procedure, desk, earlier)
            desk.done.append(earlier)
        assert step_done(procedure, step, desk)
        first = choose(procedure, desk, "says_goodbye").action
        assert procedure.actions[first].kind != "close"
        desk.last_action = first
        if not procedure.actions[first].asks:
            assert procedure.actions[choose(procedure, desk, "says_goodbye").action].kind == "close"


def test_a_caller_who_wants_a_person_gets_one_from_any_action(procedure: Procedure) -> None:
    for action in procedure.actions:
        chosen = choose(procedure, Desk(last_action=action), "wants_person").action
        assert procedure.actions[chosen].kind == "hand_over"


def test_a_write_never_comes_without_its_confirmation(procedure: Procedure) -> None:
    everything = dict.fromkeys(procedure.facts, "known")
    for action in procedure.actions:
        for state in procedure.states:
            desk = Desk(last_action=action, facts=dict(everything), verified=True, done=list(procedure.path[:-2]))
            chosen = procedure.actions[choose(procedure, desk, state).action]
            if chosen.kind == "write":
                assert action == chosen.confirmed_by
                assert state in chosen.confirm_states


def test_the_same_step_without_progress_ends_with_a_person(procedure: Procedure) -> None:
    desk = Desk(last_action=procedure.start)
    taken = [take(procedure, desk, "opens") for _ in range(6)]
    assert procedure.actions[taken[-1]].kind == "hand_over" or any(
        procedure.actions[action].kind == "hand_over" for action in taken
    )


def test_urgent_symptoms_go_to_a_nurse_from_any_action() -> None:
    procedure = load_procedure("medical_booking")
    for action in procedure.actions:
        assert choose(procedure, Desk(last_action=action), "urgent_symptoms").action == "send_to_nurse"
