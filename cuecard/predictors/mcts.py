"""Tree search over the procedure, after ChatSOP/PCA-M (arXiv 2407.03884): imagined callers, real rules.

Eight rollouts, three turns deep, a mood drawn for each and held. Selection follows PUCT with a prior from the rules;
only allowed actions are expanded; the procedure's outcome value is backed up. Visit counts are the forecast, and the
most visited root action of each caller state is the search tier's decision. It ponders in the background: it lost to
counting and to one model call wherever there are precedents (evidence 2), and is kept for cold
starts and for its sentences.
"""

import asyncio
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from cuecard.belief.types import Distribution
from cuecard.policy.imagine import answered, taken
from cuecard.policy.rules import Desk, allowed_actions, step_done
from cuecard.predictors.llm import sources_of
from cuecard.predictors.types import Forecast, SessionView, Utterance
from sops.models import Procedure

ROLLOUTS, DEPTH = 8, 3
EXPLORATION = 1.4
RULES_PRIOR = 0.7
"""Prior of the step that the procedure itself would take; the rest is shared by the other allowed ones."""
VALUES = {"success": 1.0, "declined": 0.5, "handed_over": 0.3}
PROGRESS_VALUE = 0.6
"""What a call is worth whose path is all done but for the end."""
ANNOYED_COST = 0.15


class CallerSays(NamedTuple):
    state: str
    text: str
    tokens: int = 0


class ImaginedCaller(Protocol):
    """Says what a caller in this mood might answer; the rollouts' other half."""

    async def answer(self, desk: Desk, mood: str, rng: random.Random) -> CallerSays: ...


@dataclass(slots=True)
class _Node:
    """The agent's choice after the caller did something: visits and values by action."""

    prior: Distribution
    visits: Counter[str] = field(default_factory=Counter)
    value: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def select(self) -> str:
        """The action of highest upper bound; unvisited ones by their prior."""
        total = math.sqrt(1 + sum(self.visits.values()))

        def bound(action: str) -> float:
            n = self.visits[action]
            mean = self.value[action] / n if n else 0.5
            return mean + EXPLORATION * self.prior[action] * total / (1 + n)

        return max(self.prior, key=bound)


@dataclass(slots=True)
class _Tree:
    nodes: dict[tuple[str, ...], _Node] = field(default_factory=dict)
    seen_actions: list[Counter[str]] = field(default_factory=lambda: [Counter() for _ in range(DEPTH)])
    seen_states: list[Counter[str]] = field(default_factory=lambda: [Counter() for _ in range(DEPTH)])
    sentences: list[Utterance] = field(default_factory=list)
    tokens: int = 0


class MCTSPredictor:
    """Bounded by rollouts, depth and seconds; whatever it has by then is its forecast."""

    def __init__(
        self,
        procedure_of: Callable[[str], Procedure | None],
        caller_of: Callable[[Procedure], ImaginedCaller],
        rng: random.Random,
        *,
        rollouts: int = ROLLOUTS,
        budget_s: float = 10.0,
    ) -> None:
        self._procedure_of = procedure_of
        self._caller_of = caller_of
        self._rng = rng
        self._rollouts = rollouts
        self._budget_s = budget_s

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        return (await self.ponder(view, horizon))[0]

    async def ponder(self, view: SessionView, horizon: int = 3) -> tuple[Forecast, dict[str, str]]:
        """The forecast, and for each imagined caller state the root action that the search would take."""
        procedure = self._procedure_of(view.sop)
        if procedure is None:
            return Forecast(by="mcts: unknown procedure"), {}
        began = time.perf_counter()
        tree = _Tree()
        desk = _desk_of(procedure, view)
        caller = self._caller_of(procedure)
        try:
            async with asyncio.timeout(self._budget_s):
                # Side by side, so that a model's latency is paid about once a depth and not once a rollout.
                await asyncio.gather(
                    *(self._rollout(procedure, tree, desk, caller, view) for _ in range(self._rollouts))
                )
        except TimeoutError:
            pass  # what has been backed up stands
        actions = tuple(_shares(tree.seen_actions[k]) for k in range(min(horizon, DEPTH)))
        states = tuple(_shares(tree.seen_states[k]) for k in range(min(horizon, DEPTH)))
        now = view.turns[-1].state if view.turns else ""
        forecast = Forecast(
            actions=actions,
            states=states,
            sources=tuple(sources_of(procedure, at) for at in actions),
            utterances=_merged(tree.sentences, self._rollouts),
            p_change=1.0 - states[0].get(now, 0.0) if states else 0.5,
            by="mcts",
            tokens=tree.tokens,
            ms=1000.0 * (time.perf_counter() - began),
        )
        roots = {path[0]: node for path, node in tree.nodes.items() if len(path) == 1}
        return forecast, {state: node.visits.most_common(1)[0][0] for state, node in roots.items() if node.visits}

    async def _rollout(
        self, procedure: Procedure, tree: _Tree, desk: Desk, caller: ImaginedCaller, view: SessionView
    ) -> None:
        """One imagined continuation, in one mood, backed up along the actions it took."""
        mood = _drawn(view.belief.mood or _mood_prior(procedure), self._rng)
        path: tuple[str, ...] = ()
        steps: list[tuple[_Node, str]] = []
        cost = 0.0
        for depth in range(DEPTH):
            says = await caller.answer(desk, mood, self._rng)
            tree.tokens += says.tokens
            tree.seen_states[depth][says.state] += 1
            if says.text:
                tree.sentences.append(Utterance(says.text, 1.0, depth + 1, "mcts"))
            cost += ANNOYED_COST if procedure.states[says.state].affect == "annoyed" else 0.0
            desk = answered(procedure, desk, says.state)
            path = (*path, says.state)
            node = tree.nodes.get(path)
            if node is None:
                node = tree.nodes[path] = _Node(_prior(procedure, desk, says.state))
            action = node.select()
            # A visit without its value yet keeps the parallel rollouts from all taking the same branch.
            node.visits[action] += 1
            steps.append((node, action))
            tree.seen_actions[depth][action] += 1
            desk = taken(desk, action)
            path = (*path, action)
            if procedure.actions[action].kind in {"close", "hand_over"}:
                break
        value = max(0.0, worth(procedure, desk) - cost)
        for node, action in steps:
            node.value[action] += value


def worth(procedure: Procedure, desk: Desk) -> float:
    """What the call is worth as it stands: its outcome if it has one, else the share of the path that is done."""
    reached = [VALUES[o] for name in desk.done if (o := procedure.actions[name].outcome) is not None]
    progress = sum(step_done(procedure, name, desk) for name in procedure.path) / len(procedure.path)
    return max([*reached, PROGRESS_VALUE * progress])


def _prior(procedure: Procedure, desk: Desk, state: str) -> Distribution:
    first, *others = allowed_actions(procedure, desk, state)
    if not others:
        return {first: 1.0}
    return {first: RULES_PRIOR} | {name: (1.0 - RULES_PRIOR) / len(others) for name in others}


def _desk_of(procedure: Procedure, view: SessionView) -> Desk:
    taken_so_far = [name for name in view.actions if name in procedure.actions]
    last = taken_so_far[-1] if taken_so_far else procedure.start
    done = sorted((view.done | set(taken_so_far)) & procedure.actions.keys())
    return Desk(facts=dict.fromkeys(view.facts, ""), verified=view.verified, done=done, last_action=last)


def _mood_prior(procedure: Procedure) -> Distribution:
    return {
        f"{name}/{mood}": cohort.prior * one.prior
        for name, cohort in procedure.cohorts.items()
        for mood, one in cohort.moods.items()
    }


def _drawn(p: Distribution, rng: random.Random) -> str:
    names = list(p)
    return rng.choices(names, [p[name] for name in names])[0] if names else ""


def _shares(counts: Counter[str]) -> Distribution:
    total = sum(counts.values())
    return {name: n / total for name, n in counts.most_common()} if total else {}


def _merged(sentences: list[Utterance], rollouts: int) -> tuple[Utterance, ...]:
    """Each imagined sentence once, with the share of rollouts that said it."""
    times = Counter((said.text, said.offset) for said in sentences)
    return tuple(Utterance(text, n / rollouts, offset, "mcts") for (text, offset), n in times.most_common())
