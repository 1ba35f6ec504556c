# Two commands do everything: `make run` and `make test`. Set-up needs Python, make and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Stories wait more than they work: three times as many processes as cores keep the cores busy.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 4 ? n * 3 : 10)))

COMPILED := env -u PYTHONDONTWRITEBYTECODE

.PHONY: run test check format bench lock clean

run: $(STAMP)
	$(BIN)/python -m bot sandbox $(ARGS)

# All source is read and compiled once, not by each process of the tests and each bot that they start.
test: $(STAMP)
	$(COMPILED) $(BIN)/python -m pytest --collect-only -q tests >/dev/null 2>&1 || true
	$(COMPILED) $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/unit/test_locales.py

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m tests.benchmarks $(ARGS)

$(STAMP): requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

# Needs uv. The lock files name versions and hashes, and neither an index nor a host.
lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -o requirements.lock
	uv pip compile pyproject.toml --group dev -c requirements.lock --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -o requirements-dev.lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
