# Everything a person or CI runs. Set-up happens by itself and is quick the second time.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --require-hashes

# The system's Node when it can run Vite, else the one from a wheel, in .venv.
NODE_OK := $(shell command -v npm >/dev/null 2>&1 && node -e \
  'const [a, b] = process.versions.node.split(".").map(Number); \
  console.log(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? "yes" : "no")' 2>/dev/null)
ifneq ($(NODE_OK),yes)
export PATH := $(CURDIR)/$(BIN):$(PATH)
endif

RUNTIME := .venv/.runtime
DEV := .venv/.dev
NODE := .venv/.node
MODULES := frontend/node_modules/.installed
# The one that is built last.
PAGES := chatserver/static/monitor.html
PAGE_SOURCES := $(shell find frontend/src -type f 2>/dev/null) $(wildcard frontend/*.html) \
  frontend/tsconfig.json frontend/vite.config.ts

# Tests make thousands of small databases: in memory where there is room, which takes a third of the
# time off. 4 GiB free is several times what they hold at once.
ROOMY := $(shell df --output=avail -k /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 4194304 {print "/dev/shm"}')
ifneq ($(and $(ROOMY),$(shell test -w /dev/shm && echo yes)),)
test e2e: export TMPDIR ?= $(ROOMY)
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo run test check format types e2e chaos bench bench-hits bench-monitor bench-page bench-quality bench-reading lock clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(RUNTIME) $(PAGES) ## set up, so that .venv/bin/duologue can be used

demo: $(RUNTIME) $(PAGES) ## set up, start a small study and print its links (ARGS="--workers 20 --exit")
	@$(BIN)/duologue demo $(ARGS)

run: $(RUNTIME) $(PAGES) ## serve the study of ARGS: `duologue serve`
	@$(BIN)/duologue serve $(ARGS)

# One more than for the browser tests, as many of these wait for a time-out most of the while.
test: check e2e-ready ## set up, then run every check and test but the long chaos run
	$(BIN)/pytest -n $$(($(WORKERS) + 1)) --dist worksteal -m "not e2e and not chaos"
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m e2e tests/e2e

check: $(DEV) $(MODULES) ## ruff, mypy, import-linter, wire types, tsc, vitest
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python frontend/scripts/wire_types.py --check
	cd frontend && npm run --silent check
	cd frontend && npm run --silent test

format: $(DEV) ## format the Python code and apply the safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: $(DEV) $(MODULES) ## write frontend/src/generated/wire.ts from chatserver/wire.py
	$(BIN)/python frontend/scripts/wire_types.py

e2e: e2e-ready ## the browser tests
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m e2e tests/e2e $(ARGS)

chaos: $(DEV) $(PAGES) ## kill servers and databases under load, then check that nothing was lost
	$(BIN)/pytest -m chaos --timeout=3600 tests/chaos $(ARGS)

bench: $(DEV) $(PAGES) ## measure messages and pairs a second
	$(BIN)/python -m benchmarks $(ARGS)

bench-hits: $(DEV) ## measure recruiting and paying as a study grows (ARGS=--quick is shorter)
	$(BIN)/python -m benchmarks hits $(ARGS)

bench-monitor: $(DEV) ## measure what open monitors cost, and how soon they know (ARGS=--quick is shorter)
	$(BIN)/python -m benchmarks monitor $(ARGS)

bench-page: $(DEV) $(PAGES) ## measure the memory of the monitor's page for an hour (ARGS=--quick: minutes)
	$(BIN)/python -m benchmarks page $(ARGS)

bench-quality: $(DEV) ## measure the quality flags: false alarms, recall, speed
	$(BIN)/python -m benchmarks quality $(ARGS)

bench-reading: $(DEV) ## measure the review and the team's lists in a large study (ARGS=--quick is shorter)
	$(BIN)/python -m benchmarks reading $(ARGS)

lock: ## pin the requirements anew from pyproject.toml (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --quiet pyproject.toml --group dev --group build -o requirements/dev.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --quiet pyproject.toml --group build -c requirements/dev.txt -o requirements/runtime.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --quiet --group node -c requirements/dev.txt -o requirements/node.txt

clean: ## remove what the targets above made
	rm -rf .venv frontend/node_modules chatserver/static .mypy_cache .ruff_cache .pytest_cache

.PHONY: e2e-ready
e2e-ready: $(DEV) $(PAGES)
	@.ci/chromium || true

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Duologue needs Python 3.11 or newer; name one with: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo "No virtual environment could be made; on Debian: apt install python3-venv" >&2; exit 1; }

$(RUNTIME): requirements/runtime.txt pyproject.toml | .venv/bin/python
	@echo "Setting up Python packages" >&2
	@$(PIP) -r requirements/runtime.txt
	@$(BIN)/python -m pip --disable-pip-version-check --quiet install --no-build-isolation --no-deps -e .
	@touch $@

$(DEV): requirements/dev.txt $(RUNTIME)
	@echo "Setting up development packages" >&2
	@$(PIP) -r requirements/dev.txt
	@touch $@

$(NODE): requirements/node.txt | .venv/bin/python
	@[[ "$(NODE_OK)" == yes ]] || { echo "Setting up Node" >&2; $(PIP) -r requirements/node.txt; }
	@touch $@

$(MODULES): frontend/package-lock.json frontend/.npmrc $(NODE)
	@echo "Setting up the front end" >&2
	@cd frontend && npm ci --silent
	@touch $@

$(PAGES): $(PAGE_SOURCES) $(MODULES)
	@cd frontend && npm run --silent build -- --logLevel warn
	@touch $@
