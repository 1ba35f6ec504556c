# Two commands do everything: `make run` and `make test`. Set-up needs Python, make and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Stories wait more than they work: three times as many processes as cores keep the cores busy.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 4 ? n * 3 : 10)))

# What `make wheels` asks about.
PYTHONS ?= 3.11 3.12 3.13 3.14 3.15
PLATFORMS ?= x86_64-manylinux_2_28 aarch64-manylinux_2_28 aarch64-apple-darwin

COMPILED := env -u PYTHONDONTWRITEBYTECODE

.PHONY: run test check format bench lock wheels clean

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

# Needs uv and the package index, so it is no part of the tests: whether each package of the lock can be installed
# without a compiler, with the hashes that are locked. Nothing is installed.
wheels:
	@target=$$(mktemp -d) && trap 'rm -rf "$$target"' EXIT && for python in $(PYTHONS); do for platform in $(PLATFORMS); do \
	  uv pip install --quiet --dry-run --no-deps --require-hashes --only-binary :all: --target "$$target" \
	    --python-version $$python --python-platform $$platform -r requirements-dev.lock || { \
	    echo "Python $$python on $$platform: the lock can't be installed from wheels, see above."; exit 1; }; \
	  echo "Python $$python on $$platform: every package has a wheel."; done; done

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
