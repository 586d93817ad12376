"""Past calls of a procedure as the habits that a scheduler learns from: what each step needed, and what was asked."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cuecard.precedents.past import PastStep
from cuecard.prefetch.allowance import Allowance, price_for
from cuecard.prefetch.habits import PastTurn, Place, learn
from cuecard.prefetch.jobs import is_query
from cuecard.prefetch.lookahead import Lookahead
from cuecard.prefetch.outlook import Costs
from cuecard.prefetch.scheduler import LEAD_FIRST_S, TURN_MEDIAN_S
from sops.models import Dependency, Procedure

SHORTEST_S, LONGEST_S = 1.0, 60.0
"""A turn counts as no shorter (several may be written down at once) and no longer (somebody was put on hold)."""
MOST_TOPICS = 24
"""Topics told apart; the tables of a scheduler grow with their square. The rarer ones are one question, `RARE`."""
RARE = ""
"""A question of which is only known that it is asked: nothing can be fetched for it."""

PRICED = 60
"""Newest calls that the price is found on: replaying them is most of what a lesson costs."""


class PastCalls(NamedTuple):
    """The calls, and which dependency the questions in them went to."""

    calls: list[list[PastTurn]]
    asked_of: Mapping[str, str]
    """By question: the number of its topic, in figures."""


def past_calls(procedure: Procedure, calls: Sequence[Sequence[PastStep]]) -> PastCalls:
    """What was recorded, in the words of habits. Steps that the procedure no longer has needed nothing."""
    asked_of: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for call in calls:
        for step in call:
            dep = searched_by(procedure, step.action)
            if step.topic and dep is not None:
                asked_of[str(step.topic)][dep] += 1
    kept = sorted(asked_of, key=lambda topic: (-asked_of[topic].total(), int(topic)))[:MOST_TOPICS]
    deps = {topic: max(sorted(asked_of[topic]), key=asked_of[topic].__getitem__) for topic in kept}
    return PastCalls([_turns(procedure, call, deps) for call in calls], deps)


def searched_by(procedure: Procedure, action: str) -> str | None:
    """The dependency that this step puts the caller's question to."""
    return next((dep for dep, spec in _reads(procedure, action) if spec.kind == "rag" and is_query(spec)), None)


def identifies(procedure: Procedure) -> bool:
    """Whether its callers have to say who they are."""
    return bool(procedure.verifying) or procedure.verify_with is not None


def lookahead(
    procedure: Procedure, past: PastCalls, latencies_s: Mapping[str, float], price_s: float, allowance: Allowance
) -> Lookahead:
    """Habits and costs, ready to be asked; blocks for about a second where there are hundreds of calls."""
    habits, specs = learn(past.calls), procedure.dependencies
    used = {*habits.records.all, *past.asked_of.values()}
    took_s = {dep: latencies_s.get(dep, specs[dep].latency_s) for dep in used}
    typical_s = sorted(took_s[dep] for dep in past.asked_of.values())
    rare_s = typical_s[len(typical_s) // 2] if typical_s else 1.0
    costs = Costs(
        record_s={dep: took_s[dep] for dep in habits.records.all},
        question_s={
            topic: took_s[past.asked_of[topic]] if topic in past.asked_of else rare_s for topic in habits.questions.all
        },
        price_s=price_s,
        # One for all: whoever outlives it is fetched again too early, and none too late.
        ttl_s=min((specs[dep].ttl_s for dep in used), default=600.0),
        after_s=TURN_MEDIAN_S - LEAD_FIRST_S,
    )
    ahead = Lookahead(habits, replace(costs, price_s=price_for(habits, past.calls[:PRICED], costs, allowance)))
    for cohort in range(len(habits.cohorts)):
        # Its tables of questions are made when first asked for: here, and not while calls wait.
        ahead.questions.at(Place(cohort=cohort))
    return ahead


def _turns(procedure: Procedure, call: Sequence[PastStep], asked_of: Mapping[str, str]) -> list[PastTurn]:
    beyond = _beyond_identity(procedure)
    verified = not identifies(procedure)
    turns = []
    for number, step in enumerate(call):
        verified = verified or step.action in beyond
        question = str(step.topic) if step.topic and searched_by(procedure, step.action) is not None else None
        turn = PastTurn(
            cohort=step.cohort,
            action=step.action,
            records=tuple(dep for dep, spec in _reads(procedure, step.action) if spec.kind != "rag"),
            question=question if question is None or question in asked_of else RARE,
            verified=verified,
        )
        if number + 1 < len(call):
            turn = turn._replace(seconds=min(LONGEST_S, max(SHORTEST_S, call[number + 1].at - step.at)))
        turns.append(turn)
    return turns


def _reads(procedure: Procedure, action: str) -> Iterable[tuple[str, Dependency]]:
    step = procedure.actions.get(action)
    needs = ((dep, procedure.dependencies[dep]) for dep in (step.needs if step is not None else ()))
    return ((dep, spec) for dep, spec in needs if spec.effect == "read")


def _beyond_identity(procedure: Procedure) -> frozenset[str]:
    """Steps that tell, once taken, that the step which verifies identity has been passed."""
    verifies = [
        number
        for number, name in enumerate(procedure.path)
        if procedure.verifying & set(procedure.actions[name].asks)
        or procedure.verify_with in procedure.actions[name].needs
    ]
    later = procedure.path[verifies[-1] + 1 :] if verifies else ()
    return frozenset(later) | {name for name, action in procedure.actions.items() if action.verified}
