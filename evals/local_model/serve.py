"""Serves a GGUF file as an OpenAI-compatible endpoint on this machine: `python serve.py MODEL.gguf --port 8123`.

Runs in an environment of its own that holds `xllamacpp` and nothing of this project.
"""

import argparse
import importlib
import os
import signal
import sys
from typing import Any

CONTEXT_TOKENS = 6144
MOST_TOKENS = 700
"""Of one answer: a model that will not stop must not hold a run up."""


def serve(model: str, port: int, threads: int) -> Any:
    """The running server; it stops when it is let go."""
    # Before the library is loaded: waiting threads that spin take the core from the one that works.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"qwen2.5-coder-1.5b"}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = CONTEXT_TOKENS
    params.n_predict = MOST_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.sampling.temp = 0.0
    return xllamacpp.Server(params)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    server = serve(args.model, args.port, args.threads)
    sys.stderr.write(f"{server.listening_address}\n")
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
