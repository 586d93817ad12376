"""The worlds and the scheduler that learns in them: definitions that may not drift, small runs over the real code."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cuecard.prefetch.allowance import Allowance
from cuecard.prefetch.habits import Habits, PastTurn, Place, learn
from cuecard.prefetch.outlook import Costs, QuestionOutlook, RecordOutlook
from evals.worlds import bench as worlds
from evals.worlds.play import Live, Played, Wish
from evals.worlds.policies import ours, past_call
from evals.worlds.rules import Nothing, Oracle, Rule
from evals.worlds.world import WORLDS, Need, Turn, World


@pytest.fixture(scope="module")
def world() -> World:
    return World(WORLDS["W2"], 50)


@pytest.fixture(scope="module")
def script(world: World) -> worlds.Scripts:
    whole = worlds.scripts(world)
    return worlds.Scripts(whole.training, whole.test[:40], whole.hears[:40])


def waste(played: list[Played]) -> float:
    return float(np.mean([one.wasted for one in played]))


def place_after(habits: Habits, turns: Sequence[PastTurn]) -> Place:
    place = Place()
    for turn in turns:
        place = habits.moved(place, turn)
    return place


def test_the_definition_of_a_world_has_not_drifted() -> None:
    world = World(WORLDS["W3"], 1)
    call = world.call(np.random.default_rng(11))
    assert float(world.record_s.sum()) == pytest.approx(114.3011894824877)
    assert float(world.topic_s.sum()) == pytest.approx(61.886659646133126)
    assert [world.touches[2, cohort] for cohort in range(3)] == [(7,), (16,), (8, 12)]
    assert [turn.action for turn in call] == [0, 1, 2, 8, 8, 6, 8, 6, 9]
    assert call[-1].needs == (Need("write"),)


def test_more_is_hidden_the_more_is_known(world: World, script: worlds.Scripts) -> None:
    mine = ours(world, script.training, 0.08)
    everything = Rule(1.0, needs=[Need("record", n) for n in range(6)])
    policies: list[worlds.Make] = [lambda call: Nothing(), lambda call: everything, lambda call: mine]
    policies.append(lambda call: Oracle(call=call))
    stall_s = [worlds.mean_stall_s(worlds.play_all(world, script, make)) for make in policies]
    assert stall_s == sorted(stall_s, reverse=True)
    hideable_s = stall_s[0] - stall_s[-1]
    assert (stall_s[0] - stall_s[2]) / hideable_s > 0.9


def test_the_same_seed_plays_the_same_calls(world: World, script: worlds.Scripts) -> None:
    mine = ours(world, script.training, 0.08)
    runs = [worlds.play_all(world, script, lambda call: mine) for _ in range(2)]
    assert [one.fetches for one in runs[0]] == [one.fetches for one in runs[1]]
    assert np.allclose([sum(one.stalls_s) for one in runs[0]], [sum(one.stalls_s) for one in runs[1]])


def test_a_price_turns_waste_down_smoothly(world: World, script: worlds.Scripts) -> None:
    wasted = []
    for price_s in (0.02, 0.08, 0.3, 1.0):
        mine = ours(world, script.training, price_s)
        wasted.append(waste(worlds.play_all(world, script, lambda call, mine=mine: mine)))  # type: ignore[misc]
    assert wasted == sorted(wasted, reverse=True)
    assert wasted[0] > 2 * wasted[2] > 0


def test_an_allowance_sets_the_price_that_keeps_to_it(world: World, script: worlds.Scripts) -> None:
    mine = ours(world, script.training, allowance=Allowance(wasted=6.0))
    assert waste(worlds.play_all(world, script, lambda call: mine)) == pytest.approx(6.0, abs=1.5)


def test_chances_that_are_learned_come_true_as_often_as_they_say(world: World, script: worlds.Scripts) -> None:
    calls = [past_call(world, call, [True] * len(call)) for call in script.training]
    habits = learn(calls)
    costs = Costs(dict.fromkeys(habits.records.all, 3.0), dict.fromkeys(habits.questions.all, 1.6), 0.1, 1e9, 1.0)
    records = RecordOutlook(habits, costs)
    said, came = [], []
    for call in worlds.scripts(world).test:
        past = past_call(world, call, [True] * len(call))
        later = {name for turn in past[4:] for name in turn.records}
        prospects = records.at(place_after(habits, past[:4]))
        said += prospects.p_use.tolist()
        came += [name in later for name in prospects.names]
    bins = np.digitize(said, (0.2, 0.4, 0.6, 0.8))
    for row in range(5):
        here = bins == row
        if here.sum() > 60:
            assert np.mean(np.array(came)[here]) == pytest.approx(np.mean(np.array(said)[here]), abs=0.1)


def test_waiting_is_worth_more_where_the_need_cannot_come_next_turn(world: World, script: worlds.Scripts) -> None:
    calls = [past_call(world, call, [True] * len(call)) for call in script.training]
    habits = learn(calls)
    costs = Costs(dict.fromkeys(habits.records.all, 3.0), dict.fromkeys(habits.questions.all, 1.6), 0.1, 1e9, 1.0)
    questions = QuestionOutlook(habits, costs)
    greeting, middle = questions.at(Place(turn=0)), questions.at(Place(turn=4))
    assert float(greeting.p_next.max()) < 0.01
    assert np.all(greeting.value_s - greeting.wait_s < 0.01)
    assert float((middle.value_s - middle.wait_s).max()) > 0.01


def test_exploring_tries_what_is_unsure_and_pays_for_it(world: World, script: worlds.Scripts) -> None:
    mine, curious = (ours(world, script.training, 0.08) for _ in range(2))
    curious.dice = np.random.default_rng(1)
    steady_s, exploring_s = (
        worlds.mean_stall_s(worlds.play_all(world, script, lambda call, policy=policy: policy))  # type: ignore[misc]
        for policy in (mine, curious)
    )
    assert abs(exploring_s - steady_s) < 1.0
    assert waste(worlds.play_all(world, script, lambda call: curious)) > waste(
        worlds.play_all(world, script, lambda call: mine)
    )


def test_a_pass_that_is_slow_leaves_orders_for_the_turn_that_overtakes_it(script: worlds.Scripts) -> None:
    hurried = World(WORLDS["W5"], 50)
    whole = worlds.scripts(hurried)
    calls = worlds.Scripts(whole.training, whole.test[:60], whole.hears[:60])
    standing = ours(hurried, calls.training, 0.08)
    afterwards = replace(standing, stands=False)
    with_orders_s, without_s = (
        worlds.mean_stall_s(worlds.play_all(hurried, calls, lambda call, policy=policy: policy))  # type: ignore[misc]
        for policy in (standing, afterwards)
    )
    assert with_orders_s < without_s


def test_orders_stand_only_once_a_pass_over_the_turn_before_has_ended() -> None:
    slow = World(replace(WORLDS["W2"], supervisor_s=1000.0), 50)
    whole = worlds.scripts(slow)
    calls = worlds.Scripts(whole.training, whole.test[:5], whole.hears[:5])
    asked: list[str] = []

    class Listening(Nothing):
        def wishes(self, event: str, live: Live, turns: Sequence[Turn]) -> list[Wish]:
            asked.append(event)
            return []

    worlds.play_all(slow, calls, lambda call: Listening(1000.0, stands=True))
    assert set(asked) == {"identity"}


def test_a_turn_that_brings_back_what_was_on_before_identity_is_foreseen() -> None:
    late = World(WORLDS["W6"], 50)
    calls = [past_call(late, call, [True] * len(call)) for call in worlds.scripts(late).training]
    habits = learn(calls)
    for asked in (True, False):
        before = [call for call in calls if (call[4].question is not None) is asked and len(call) > 8]
        place = place_after(habits, before[0][:6])
        assert habits.actions.all[place.action] == "verify"
        assert habits.asks[place.turn, int(place.asked)] == pytest.approx(float(asked), abs=0.05)


def test_follow_ups_are_told_from_popular_questions(world: World, script: worlds.Scripts) -> None:
    habits = learn([past_call(world, call, [True] * len(call)) for call in script.training])
    lift = []
    for last, names in enumerate(world.successors):
        row = habits.questions.row(f"question:{last}")
        assert row is not None
        for follow in names:
            column = habits.questions.row(f"question:{follow}")
            assert column is not None
            lift.append(habits.topics[0, row, column] - habits.topics[0, -1, column])
    everything = habits.topics[0, :-1] - habits.topics[0, -1]
    assert np.mean(lift) > 0.1
    assert abs(float(everything.mean())) < 0.01
