"""What half-heard words are worth, and when they are left alone."""

from cuecard.planning import worth_sending
from cuecard.prefetch.types import FetchCall, FetchJob, FetchKey
from sops import load_procedure

SPECS = load_procedure("insurance_renewal").dependencies


def _job(dep: str, value_s: float) -> FetchJob:
    return FetchJob(FetchKey("me", dep, "{}", 0), FetchCall(dep, SPECS[dep]), origin="partial", value_s=value_s)


def test_what_hides_more_than_its_price_is_sent() -> None:
    jobs = [_job("clauses", 0.6), _job("quote", 0.4)]
    assert worth_sending(jobs, 0.0) == jobs
    assert worth_sending(jobs, 0.4) == jobs[:1]


def test_a_high_price_silences_half_heard_words_as_it_does_the_forecast() -> None:
    assert worth_sending([_job("clauses", 1.2), _job("quote", 0.76)], 4.0) == []
