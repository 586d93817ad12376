"""The product's scheduler on a real procedure: what is planned, when, and what never is."""

import pytest

from cuecard.pool import Item, Pool
from cuecard.predictors.types import Forecast, Utterance
from cuecard.prefetch import Decision, Known, Scheduler, Wish, job_for
from sops.loader import load_procedure
from sops.models import Procedure

FACTS = {"policy_number": "INS418226"}


@pytest.fixture(scope="module")
def procedure() -> Procedure:
    return load_procedure("insurance_renewal")


def forecast(*utterances: Utterance, **actions: float) -> Forecast:
    return Forecast(actions=(actions, actions, actions), utterances=utterances)


def planned(
    procedure: Procedure, seen: Forecast, known: Known, pool: Pool | None = None, price_s: float = 0.0, **more: object
) -> dict[str, Decision]:
    scheduler = Scheduler(procedure, price_s)
    decisions = scheduler.plan(seen, known, pool or Pool(), more.get("flying", {}), 0.0)  # type: ignore[arg-type]
    return {decision.key.dep: decision for decision in reversed(decisions)}


def test_what_a_likely_action_needs_is_fetched_with_a_reason(procedure: Procedure) -> None:
    decision = planned(procedure, forecast(ease_price=0.6), Known(facts=FACTS, verified=True))["market"]
    assert decision.what == "fetch"
    assert decision.job is not None
    assert decision.job.for_action == "ease_price"
    assert "ease_price" in decision.reason


def test_nothing_about_a_person_is_planned_before_identity(procedure: Procedure) -> None:
    everything = forecast(**dict.fromkeys(procedure.actions, 0.5))
    before = planned(procedure, everything, Known(facts=FACTS))
    assert not [dep for dep in before if procedure.dependencies[dep].verified]
    after = planned(procedure, everything, Known(facts=FACTS, verified=True))
    assert {"policy", "claims", "market"} <= after.keys()


def test_a_write_is_never_planned_however_likely(procedure: Procedure) -> None:
    facts = dict.fromkeys(procedure.facts, "1")
    assert "renewal" not in planned(procedure, forecast(renew_policy=1.0), Known(facts=facts, verified=True))


def test_a_fetch_waits_for_the_facts_it_cannot_do_without(procedure: Procedure) -> None:
    likely = forecast(present_quote=0.9, ease_price=0.9)
    plan = planned(procedure, likely, Known(facts=FACTS, verified=True))
    assert "quote" not in plan
    assert plan["discounts"].what == "fetch"
    ready = planned(procedure, likely, Known(facts=FACTS | {"annual_mileage": "8000"}, verified=True))
    assert ready["quote"].what == "fetch"


def test_a_price_holds_back_what_is_not_worth_it(procedure: Procedure) -> None:
    known = Known(facts=FACTS, verified=True)
    fetched = [
        sum(d.what == "fetch" for d in planned(procedure, forecast(ease_price=0.5), known, price_s=price).values())
        for price in (0.0, 0.5, 2.0, 20.0)
    ]
    assert fetched == sorted(fetched, reverse=True)
    assert fetched[0] > fetched[-1] == 0


def test_predicted_sentences_become_queries(procedure: Procedure) -> None:
    asked = Utterance("is a cracked windscreen covered", 0.9)
    decision = planned(procedure, forecast(asked, answer_question=0.9), Known())["clauses"]
    assert decision.job is not None
    assert decision.job.call.query == "is a cracked windscreen covered"


def test_what_lies_in_the_pool_is_held_and_refreshed_before_it_expires(procedure: Procedure) -> None:
    known = Known(facts=FACTS, verified=True)
    job = job_for(procedure, "market", known, Wish())
    assert job is not None
    pool = Pool()
    for expires_at_s, what in ((500.0, "hold"), (6.0, "refresh")):
        pool.add(Item(f"market:{job.key.args}", "market", "", args=job.key.args, expires_at_s=expires_at_s))
        assert planned(procedure, forecast(ease_price=0.9), known, pool)["market"].what == what


def test_what_is_no_longer_worth_it_is_dropped_from_the_queue(procedure: Procedure) -> None:
    known = Known(facts=FACTS, verified=True)
    job = job_for(procedure, "market", known, Wish())
    assert job is not None
    scheduler = Scheduler(procedure, price_s=20.0)
    decisions = scheduler.plan(forecast(ease_price=0.9), known, Pool(), {job.key: None}, 0.0)
    assert ("drop", job.key) in [(decision.what, decision.key) for decision in decisions]


def test_latencies_are_learned_from_what_fetches_take(procedure: Procedure) -> None:
    scheduler = Scheduler(procedure)
    for _ in range(30):
        scheduler.learn_latency("policy", 5.0)
    assert scheduler.latencies_s["policy"] == pytest.approx(5.0, abs=0.05)
