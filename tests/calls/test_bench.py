"""Whole calls on the real engine; one bench for all tests, because building one embeds a procedure's sentences."""

import io
import json

import pytest
from rich.console import Console

from cuecard.cli._show import show_ledger, show_summary, show_turn
from cuecard.clock import run_virtual
from cuecard.events import FactLearned, Heard
from cuecard.prefetch.events import FetchEnded, FetchStarted
from evals.calls.bench import NONE, ORACLE, OURS, Bench, Compared, future_of
from evals.calls.measures import Row, hidden, rows_of, summary
from evals.calls.policies import POLICIES
from evals.calls.report import call_report
from sops import load_procedure

SOP = "card_activation"
SEEDS = (103, 105)
ALL = (OURS, *POLICIES)
REPORTED = [
    "sop", "session_id", "turns", "outcome", "stall_s", "hideable_s", "hidden_s", "hidden_pct", "fetches", "wasted",
    "overhead_ms_p50", "overhead_ms_p95", "timeline",
]  # fmt: skip


@pytest.fixture(scope="module")
def calls() -> list[Compared]:
    """Two callers under every policy, and the first of them once more."""

    async def play() -> list[Compared]:
        async with Bench.open() as bench:
            first = [await bench.compare(SOP, seed, ALL) for seed in SEEDS]
            return [*first, await bench.compare(SOP, SEEDS[0], (OURS, ORACLE))]

    return run_virtual(play())


def _rows(calls: list[Compared]) -> list[Row]:
    return [row for compared in calls[:2] for row in rows_of(compared)]


def test_every_policy_hears_the_same_words_and_takes_the_same_steps(calls: list[Compared]) -> None:
    for compared in calls[:2]:
        said = {
            policy: [event.text for event in played.events if isinstance(event, Heard) and event.final]
            for policy, played in compared.played.items()
        }
        assert len(said[NONE]) >= 3
        assert all(words == said[NONE] for words in said.values())
        assert {row.diverged for row in rows_of(compared)} == {0}


def test_without_prefetch_nothing_is_fetched_early(calls: list[Compared]) -> None:
    for compared in calls[:2]:
        book = compared.played[NONE].ledger
        assert (book.fetches, book.wasted) == (0, 0)
        assert book.live > 0
        assert set(book.needs) <= {"live", "ready", "write", "missing"}


def test_nothing_hides_more_than_the_oracle_and_nothing_less_than_none(calls: list[Compared]) -> None:
    rows = _rows(calls)
    best = hidden(rows, ORACLE)
    assert best.pct == 100
    for policy in ALL:
        assert -0.01 <= hidden(rows, policy).hidden_s <= best.hideable_s + 0.01


def test_the_oracle_wastes_nothing(calls: list[Compared]) -> None:
    assert sum(row.wasted for row in _rows(calls) if row.policy == ORACLE) == 0


def test_the_oracle_fetches_nothing_before_its_facts_are_spoken(calls: list[Compared]) -> None:
    procedure = load_procedure(SOP)
    for compared in calls[:2]:
        played = compared.played[ORACLE]
        heard_s: dict[str, float] = {}
        for event in played.events:
            if isinstance(event, FactLearned):
                heard_s.setdefault(event.fact, event.at_s)
        for event in played.events:
            if isinstance(event, FetchStarted) and procedure.dependencies[event.dep].verified:
                assert all(event.at_s >= heard_s[fact] for fact in procedure.verifying)


def test_a_write_is_never_fetched_by_any_policy(calls: list[Compared]) -> None:
    writes = {name for name, dep in load_procedure(SOP).dependencies.items() if dep.effect == "write"}
    for compared in calls[:2]:
        for played in compared.played.values():
            assert not [e for e in played.events if isinstance(e, FetchStarted) and e.dep in writes]


def test_the_future_is_every_need_but_the_writes(calls: list[Compared]) -> None:
    first = calls[0].played[NONE]
    needs = first.ledger.needs
    assert len(future_of(first)) == sum(n for how, n in needs.items() if how != "write")


def test_the_same_seed_gives_the_same_call(calls: list[Compared]) -> None:
    def timeless(compared: Compared) -> dict[str, object]:
        report = call_report(compared)
        for turn in report["timeline"]:
            del turn["at_s"]
        return {name: report[name] for name in REPORTED if name != "session_id" and not name.startswith("overhead")}

    assert timeless(calls[0]) == timeless(calls[2])


def test_a_report_has_the_promised_fields_and_says_that_it_is_simulated(calls: list[Compared]) -> None:
    report = call_report(calls[0])
    assert list(report) == REPORTED
    assert report["turns"] == len(report["timeline"])
    assert {"words", "belief", "action", "picks", "stall_s", "why"} <= set(report["timeline"][0])
    assert str(report["session_id"]).startswith("simulated-")
    assert json.loads(json.dumps(report))["outcome"] == report["outcome"]
    without = call_report(calls[0], NONE)
    assert (without["hidden_s"], without["fetches"]) == (0.0, 0)
    assert [t["words"] for t in without["timeline"]] == [t["words"] for t in report["timeline"]]


def test_rows_survive_the_way_through_another_process(calls: list[Compared]) -> None:
    for row in _rows(calls):
        assert Row(**json.loads(json.dumps(row.to_json()))) == row


@pytest.mark.parametrize("width", [80, 140])
def test_a_call_can_be_read_in_narrow_and_wide_terminals(calls: list[Compared], width: int) -> None:
    console = Console(width=width, record=True, file=io.StringIO())
    book = calls[0].played[OURS].ledger
    show_turn(console, book)
    show_ledger(console, book, {"caller": "simulated"})
    show_summary(console, SOP, summary(_rows(calls)))
    text = console.export_text()
    assert "agent" in text
    assert "decided by" in text
    assert "simulated" in text
    assert "95 % interval" in text


def test_what_was_not_found_is_not_asked_for_again(calls: list[Compared]) -> None:
    for compared in calls[:2]:
        events = compared.played[OURS].events
        empty = [
            (e.at_s, e.dep, e.key) for e in events if isinstance(e, FetchEnded) and e.how == "landed" and not e.n_items
        ]
        started = [(e.at_s, e.dep, e.key) for e in events if isinstance(e, FetchStarted)]
        assert not [one for one in started for none in empty if one[0] > none[0] and one[1:] == none[1:]]


def test_nonsense_knows_no_contents_of_a_corpus_and_ours_searches_them_broadly(calls: list[Compared]) -> None:
    def broad(compared: Compared, policy: str) -> list[FetchStarted]:
        events = compared.played[policy].events
        return [event for event in events if isinstance(event, FetchStarted) and '"k":' in event.key]

    assert all(broad(compared, OURS) for compared in calls[:2])
    assert not any(broad(compared, "garbage") for compared in calls[:2])


def test_every_row_says_how_often_the_right_document_answered(calls: list[Compared]) -> None:
    rows = _rows(calls)
    assert all(row.right <= row.asked for row in rows)
    asked = {(row.seed, row.asked) for row in rows}
    assert len(asked) == len(SEEDS), "the same questions were asked under every policy"
