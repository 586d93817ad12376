"""Datasets are what LangSmith takes, run offline through its evaluator, and reach it when asked to."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import orjson
import pytest
from langsmith.schemas import ExampleCreate

from evals import evaluators
from evals.langsmith_sets import DATASETS
from evals.langsmith_sets.evaluate import NoKey, client, evaluate_dataset, uploaded
from evals.langsmith_sets.read import FOLDER, DatasetInvalid, files_of, read_examples


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_line_is_an_example_for_langsmith(dataset: str) -> None:
    rows = read_examples(dataset)
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert ExampleCreate.model_validate(row).inputs == row["inputs"]


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_dataset_has_a_card_that_says_who_spoke(dataset: str) -> None:
    card = (FOLDER / dataset / "README.md").read_text(encoding="utf-8")
    assert "Inputs" in card
    assert "simulated" in card or "hand" in card


@pytest.mark.parametrize("dataset", ["next_action", "state", "query", "pool"])
def test_datasets_are_evaluated_with_sockets_shut(dataset: str) -> None:
    figures = evaluate_dataset(dataset, at_most=4)
    assert figures["uploaded"] is False
    assert figures["n"] == 4
    assert figures["scores"]
    assert all(0.0 <= one["mean"] <= 1.0 for one in figures["scores"].values())


def test_whole_calls_are_evaluated_with_sockets_shut_and_send_no_traces() -> None:
    figures = evaluate_dataset("calls", at_most=1)
    assert figures["n"] == 1
    assert set(figures["scores"]) == {"goal_reached", "same_steps", "waiting_s"}


def test_a_line_with_a_field_that_langsmith_would_lose_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    row = {"id": "73cb9d1d-183c-561c-b85b-ffbbda9f0ffc", "inputs": {}, "split": ["test"], "outputs": {}}
    (tmp_path / "state" / "x.jsonl").write_bytes(orjson.dumps(row))
    with pytest.raises(DatasetInvalid, match=r"x\.jsonl:1"):
        read_examples("state", tmp_path)


def test_evaluators_judge_what_their_names_say() -> None:
    reference = {"actions": ["b"], "sources": [""], "states": []}
    outputs = {"actions": [["a", "b"]], "sources": [["", "x"]]}
    assert evaluators.next_action_top1(outputs, reference)["score"] == 0.0
    assert evaluators.next_action_top3(outputs, reference)["score"] == 1.0
    assert evaluators.source_top1(outputs, reference)["score"] is None
    items = {"items": [{"id": "x"}]}
    assert evaluators.gold_in_picks(items, {"picks": ["y"]}, {"item_ids": ["x"]})["score"] == 0.0
    assert evaluators.gold_in_picks(items, {"picks": ["y"]}, {"item_ids": ["z"]})["score"] is None
    steps = {"turns": [{"action": "a"}, {"action": "b"}]}
    assert evaluators.same_steps({"actions": ["a", "c", "d"]}, steps)["score"] == pytest.approx(1 / 3)


def test_an_upload_without_a_key_says_what_to_set() -> None:
    with pytest.raises(NoKey, match="LANGSMITH_API_KEY"):
        client()


class _StandIn(BaseHTTPRequestHandler):
    """As much of LangSmith's API as creating a dataset with examples needs; keeps what it was sent."""

    seen: ClassVar[list[tuple[str, str, Any]]] = []

    def _answer(self, body: Any, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.seen.append(("GET", self.path, None))
        if self.path.startswith("/info"):
            self._answer({"version": "0.0.0", "batch_ingest_config": {}, "instance_flags": {}})
        elif self.path.startswith("/datasets") and not any(one[:2] == ("POST", "/datasets") for one in self.seen):
            self._answer([])
        elif self.path.startswith("/datasets"):
            self._answer([_DATASET])
        else:
            self._answer([])

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.seen.append(("POST", self.path, raw))
        self._answer(_DATASET if self.path == "/datasets" else [])

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: a test's output is its own."""


_DATASET = {
    "id": "00000000-0000-0000-0000-0000000000aa",
    "name": "cuecard-state",
    "created_at": "2026-01-01T00:00:00Z",
    "tenant_id": "00000000-0000-0000-0000-0000000000bb",
    "data_type": "kv",
}


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_StandIn]]:
    _StandIn.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _StandIn)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("LANGSMITH_API_KEY", "key-of-the-test")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    yield _StandIn
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.sockets
def test_a_dataset_reaches_a_server_that_speaks_langsmiths_protocol(stand_in: type[_StandIn]) -> None:
    rows = read_examples("state")[:2]
    from langsmith.utils import get_env_var

    getattr(get_env_var, "cache_clear")()  # noqa: B009 - it has one, whatever its overloads say
    sender = client()
    assert uploaded(sender, "cuecard-state", rows) == "cuecard-state"
    posted = [(path, body) for method, path, body in stand_in.seen if method == "POST"]
    assert posted[0][0] == "/datasets"
    assert json.loads(posted[0][1])["name"] == "cuecard-state"
    sent = b"".join(body for _, body in posted[1:])
    assert all(row["id"].encode() in sent for row in rows)
    assert all(row["inputs"]["utterance"].encode() in sent for row in rows)


def test_datasets_lie_where_the_reader_looks() -> None:
    assert all(files_of(dataset) for dataset in DATASETS)
