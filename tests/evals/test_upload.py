"""An experiment's rows reach a server that speaks LangSmith's protocol: examples, runs and a score for every number."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from evals.experiments.results import read
from evals.langsmith_sets.upload import examples_of, upload_results
from tests.evals.recorded import recorded_run

_DATASET = {
    "id": "00000000-0000-0000-0000-0000000000aa",
    "name": "cuecard-E8",
    "created_at": "2026-01-01T00:00:00Z",
    "tenant_id": "00000000-0000-0000-0000-0000000000bb",
    "data_type": "kv",
}


class _LangSmith(BaseHTTPRequestHandler):
    """As much of the API as an evaluation needs; keeps what it was sent."""

    posted: ClassVar[list[tuple[str, bytes]]] = []
    examples: ClassVar[dict[str, dict[str, Any]]] = {}

    def _answer(self, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if self.path.startswith("/info"):
            self._answer({"version": "0.0.0", "batch_ingest_config": {}, "instance_flags": {}})
        elif self.path.startswith("/datasets"):
            there = any(path == "/datasets" for path, _ in self.posted)
            self._answer([_DATASET] if there else [])
        elif self.path.startswith("/examples") and "offset=0" in self.path:
            self._answer(list(self.examples.values()))
        elif self.path.startswith("/sessions"):
            self._answer(_session("cuecard"))
        else:
            self._answer([])

    def do_POST(self) -> None:
        raw = self._body()
        self.posted.append((self.path, raw))
        if self.path == "/datasets":
            self._answer(_DATASET)
        elif self.path == "/examples/bulk":
            for one in json.loads(raw):
                self.examples[one["id"]] = {**one, "dataset_id": _DATASET["id"]}
            self._answer([{"id": one} for one in self.examples])
        elif self.path.startswith("/sessions"):
            self._answer(_session(json.loads(raw)["name"]))
        else:
            self._answer({})

    do_PATCH = do_POST

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: a test's output is its own."""


def _session(name: str) -> dict[str, Any]:
    return {
        "id": "00000000-0000-0000-0000-0000000000cc",
        "name": name,
        "start_time": "2026-01-01T00:00:00Z",
        "tenant_id": _DATASET["tenant_id"],
        "reference_dataset_id": _DATASET["id"],
    }


@pytest.fixture
def langsmith(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_LangSmith]]:
    _LangSmith.posted.clear()
    _LangSmith.examples.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _LangSmith)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("LANGSMITH_API_KEY", "key-of-the-test")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    from langsmith.utils import get_env_var

    getattr(get_env_var, "cache_clear")()  # noqa: B009 - it has one, whatever its overloads say
    yield _LangSmith
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.sockets
def test_each_row_is_uploaded_as_an_example_with_a_run_and_its_numbers_as_feedback(
    langsmith: type[_LangSmith], tmp_path: Path
) -> None:
    results = read(recorded_run(tmp_path) / "results.jsonl")
    assert results is not None
    rows = examples_of("E8", results)
    assert upload_results("E8", results) == len(rows)
    assert set(langsmith.examples) == {row["id"] for row in rows}
    assert {(one["inputs"]["seed"], one["inputs"]["policy"]) for one in langsmith.examples.values()} == {
        (seed, policy) for seed in range(3) for policy in ("none", "all_at_identity", "ours", "oracle")
    }
    sent = b"".join(body for path, body in langsmith.posted if path.startswith(("/runs", "/feedback")))
    assert b"stall_s" in sent
    assert b"fetches" in sent
