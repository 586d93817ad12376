"""Long unattended runs: one failure stops nothing else, what was kept stays whole, an answer is paid for once."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cuecard.clock import run_virtual
from cuecard.models.chat import build_chat
from cuecard.models.embeddings import Matrix
from cuecard.models.tokens import estimate
from cuecard.settings import Settings
from evals.experiments import registry, runner
from evals.experiments.answers import Answer, Answers
from evals.experiments.check import check, drift, recorded
from evals.experiments.command import recorded_outcome, run_experiments
from evals.experiments.e01 import run as e01
from evals.experiments.e10.prepare import said_by, variant
from evals.experiments.memo import Memo
from evals.experiments.results import read
from evals.experiments.spoken_progress import SpokenProgress
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Options, Row, Unit
from sops.loader import load_procedure
from tests.evals.recorded import recorded_run
from tests.fakes import fake_provider, with_model


def _failing(at: Sequence[str]) -> Experiment:
    """E1's bar over units of which some cannot be played."""

    def units(options: Options) -> list[Unit]:
        return [{"key": f"call/{n}"} for n in range(4)]

    async def play(unit: Unit, tools: Tools) -> list[Row]:
        if unit["key"] in at:
            raise ValueError("no such call")
        return [{"hit": 1}]

    return replace(
        e01.EXPERIMENT,
        units=units,
        play=play,
        parallel=False,
        measures=lambda rows: {"hit_at_2_worst": Measure(1.0, 1.0, 1.0, len(rows))},
        figures=lambda rows: {},
        sections=lambda rows: [],
    )


def test_a_unit_that_fails_loses_no_other_and_is_played_again(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "load", lambda name: _failing(["call/1"]))
    with pytest.raises(runner.RunFailed, match=r"1 of 4 units failed.*call/1: ValueError: no such call"):
        runner.run("E1", Options(), tmp_path, settings=settings)
    kept = read(tmp_path / runner.RESULTS)
    assert kept is not None
    assert kept.done == {"call/0", "call/2", "call/3"}
    monkeypatch.setattr(registry, "load", lambda name: _failing([]))
    assert len(runner.run("E1", Options(), tmp_path, settings=settings).done) == 4


def test_an_experiment_that_fails_says_so_and_the_others_go_on(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = registry.load
    monkeypatch.setattr(registry, "load", lambda name: _failing(["call/0"]) if name == "E1" else load(name))
    outcome = run_experiments(["E1", "E5"], Options(), settings, tmp_path)
    assert outcome.failed == ["E1"]
    assert outcome.lines[0]["verdict"].startswith("failed: RunFailed: 1 of 4 units")
    assert outcome.lines[1]["verdict"] == "not run: no model"


def test_a_failed_run_leaves_the_kept_one_whole_and_a_finished_one_replaces_it(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = recorded_run(tmp_path / "kept", "E1")
    before = (kept / "results.jsonl").read_bytes()
    monkeypatch.setattr(registry, "load", lambda name: _failing(["call/0"]))
    run_experiments(["E1"], Options(), settings, tmp_path / "work", keep_in=tmp_path / "kept")
    assert (kept / "results.jsonl").read_bytes() == before
    monkeypatch.setattr(registry, "load", lambda name: _failing([]))
    run_experiments(["E1"], Options(), settings, tmp_path / "work", keep_in=tmp_path / "kept")
    assert (kept / "results.jsonl").read_bytes() == (tmp_path / "work" / "e01" / "results.jsonl").read_bytes()
    assert drift(kept, tmp_path / "kept") == []


def test_a_run_with_a_chat_model_is_kept_apart_and_its_mark_stands_in_the_report(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = recorded_run(tmp_path / "kept", "E1")
    monkeypatch.setattr(registry, "names", lambda: ["E1"])
    monkeypatch.setattr(registry, "load", lambda name: _failing([]))
    endpoint = settings.model_copy(update={"openai_base_url": "http://127.0.0.1:9/v1", "chat_model": "tiny"})
    run_experiments(["E1"], Options(), endpoint, tmp_path / "work", mark="1.5B model", keep_in=tmp_path / "kept")
    report = tmp_path / "kept" / "with_model" / "e01" / "report.md"
    assert report.read_text(encoding="utf-8").startswith("# E1: Action-keyed prefetch, with a 1.5B model")
    assert "chat model tiny (1.5B model)" in report.read_text(encoding="utf-8")
    assert recorded(tmp_path / "kept") == [kept, report.parent]
    assert not [line for line in check(tmp_path / "kept") if "with_model" in line]
    assert [line["name"] for line in recorded_outcome(tmp_path / "kept").lines] == ["E1", "E1 1.5B model"]
    report.write_text(report.read_text(encoding="utf-8").replace("met", "missed"), encoding="utf-8")
    assert [line for line in check(tmp_path / "kept") if "with_model" in line]


def test_again_starts_a_run_anew(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "load", lambda name: _failing([]))
    first = runner.run("E1", Options(), tmp_path, settings=settings).header.begun_at
    assert runner.run("E1", Options(), tmp_path, settings=settings).header.begun_at == first
    assert runner.run("E1", Options(), tmp_path, settings=settings, again=True).header.begun_at > first


def test_a_models_answer_is_asked_for_once_and_remembers_what_it_took(tmp_path: Path, settings: Settings) -> None:
    fake = fake_provider("kept", ["STEP: close_call\nGoodbye then."])
    chat = build_chat(with_model(settings, "kept:x"), estimate)
    assert chat is not None

    async def asked() -> Answer:
        return await Answers(chat, "kept:x", tmp_path).to([("user", "bye")])

    first, again = run_virtual(asked()), run_virtual(asked())
    assert first == again
    assert len(fake.calls) == 1
    assert first.step == "close_call"
    assert first.tokens > 0
    assert first.error == ""


def test_progress_without_a_terminal_is_said_twice_a_minute_with_the_time_left() -> None:
    said: list[str] = []
    now_s = iter([0.0, 10.0, 40.0, 50.0, 80.0])
    progress = SpokenProgress(said.append, ["E1", "E8"], lambda: next(now_s))
    for done in (0, 1, 4, 5, 8):
        progress.at("E8", done, 8)
    assert said == ["E8 (2 of 2): 0 of 8", "E8 (2 of 2): 4 of 8, about 0.7 min left", "E8 (2 of 2): 8 of 8"]


class _Counting:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.texts += texts
        return np.ones((len(texts), 384), np.float32)


def test_words_are_embedded_once_a_call_except_where_time_is_measured() -> None:
    inner = _Counting()
    memo = Memo(inner)
    memo.begin("a")
    memo.embed(["hello"])
    memo.embed(["hello"])
    memo.anew = True
    memo.embed(["hello"])
    memo.anew = False
    memo.begin("b")
    memo.embed(["hello"])
    assert inner.texts == ["hello"] * 3


def test_a_reply_written_beforehand_is_the_same_whatever_its_slots_hold() -> None:
    assert said_by("Thank you, {card.name}. Goodbye.", "Thank you, Thea Blackwood. Goodbye.")
    assert not said_by("Thank you, {card.name}. Goodbye.", "Thank you. Goodbye.")


def test_only_what_was_known_a_turn_before_can_be_written_beforehand() -> None:
    for procedure in ("insurance_renewal", "card_activation", "medical_booking"):
        for action in load_procedure(procedure).actions.values():
            text = variant(action, "", repeated=False, known=frozenset())
            assert text is None or "{" not in text
    acknowledge = load_procedure("card_activation").actions["acknowledge"]
    hesitant = variant(acknowledge, "hesitates", repeated=False, known=frozenset())
    assert hesitant != variant(acknowledge, "agrees", repeated=False, known=frozenset())
    assert variant(acknowledge, "hesitates", repeated=True, known=frozenset()) == acknowledge.again[0]
