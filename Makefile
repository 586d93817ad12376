# Everything here sets up .venv by itself: with uv where it is, else with pip from the same lock.
PY := .venv/bin/python
PORT ?= 2024
export LANGGRAPH_CLI_NO_ANALYTICS := 1
export LANGGRAPH_NO_VERSION_CHECK := true
export LANGSMITH_TRACING ?= false

.PHONY: demo test check dev bench clean

demo: .venv/ready  ## hear a car-insurance renewal call, with what the slow brain did beside each turn
	.venv/bin/cuecard call insurance_renewal --seed 3

test: .venv/ready  ## the whole test suite
	$(PY) -m pytest

check: .venv/ready  ## format, lint, types, layers, procedures
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo
	.venv/bin/cuecard sop check sops/*.yaml

dev: .venv/ready  ## LangGraph's dev server with both graphs, offline; Studio can connect to it (PORT=2030 for another port)
	.venv/bin/langgraph dev --no-browser --port $(PORT) --n-jobs-per-worker 50

bench: .venv/ready  ## what was measured, measured again here
	.venv/bin/cuecard bench hotpath

.venv/ready: pyproject.toml requirements.lock
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv -q --seed --allow-existing .venv && uv pip install -q -p .venv -r requirements.lock && uv pip install -q -p .venv --no-deps -e . ; \
	else \
	  python3 -m venv .venv && $(PY) -m pip install -q -r requirements.lock && $(PY) -m pip install -q --no-deps -e . ; \
	fi
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .langgraph_api
