# Two commands do everything: `make run` and `make test`. Set-up needs Python, make and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUNS := $(VENV)/.runs
COMPILED := $(VENV)/.compiled
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# Stories wait more than they work: four times as many processes as cores keep the cores busy.
WORKERS ?= $(shell echo $$(($(CORES) < 4 ? $(CORES) * 4 : 12)))
IMAGE := $(CURDIR)/build/image
PYTEST := env -u PYTHONDONTWRITEBYTECODE "$(BIN)/python" -m pytest

.PHONY: run test quick check check-types check-rest format bench image soak wheels lock digests clean python compiled

run: $(RUNS)
	@"$(BIN)/python" -m bot sandbox $(ARGS)

# All tests. They find or start PostgreSQL and Chromium automatically, and say in one line what they have to leave out.
test: compiled
	@$(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# The tests that aren't slow and need no process, browser or PostgreSQL.
quick: compiled
	@$(PYTEST) --quick -n $(CORES) --dist worksteal $(ARGS)

# mypy takes as long as the rest together, so they run at the same time.
check: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 check-types check-rest

check-types: $(STAMP)
	"$(BIN)/mypy"

check-rest: $(STAMP)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/lint-imports"
	"$(BIN)/hadolint" Dockerfile
	@if command -v dclint >/dev/null; then dclint compose.yaml; else echo "dclint isn't installed: compose.yaml isn't compared with Compose's schema"; fi
	$(PYTEST) tests/architecture --ignore tests/architecture/test_screens_limits.py --ignore tests/architecture/test_unreadable_rows.py

format: $(STAMP)
	"$(BIN)/ruff" check --fix .
	"$(BIN)/ruff" format .

bench: $(STAMP)
	"$(BIN)/python" -m tests.benchmarks $(ARGS)

# Builds the image without a container engine, and runs it: a minute and a half the first time. Needs root, buildah and
# mmdebstrap.
image: $(STAMP)
	sh .ci/image "$(IMAGE)"
	KIRIM_IMAGE="$(IMAGE)" $(PYTEST) tests/image $(ARGS)

# Three replicas fail at random while users order. Then everything is checked. ARGS="--minutes 10" says how long.
soak: $(STAMP)
	"$(BIN)/python" -m tests.replicas $(ARGS)

# Asks the package index whether the lock file can be installed on each supported Python without a compiler. Needs uv.
wheels:
	@missing=0; \
	for python in 3.11 3.12 3.13 3.14 3.15; do \
	  for platform in x86_64-manylinux_2_28 aarch64-manylinux_2_28 aarch64-apple-darwin; do \
	    echo "Python $$python on $$platform"; \
	    uv pip install --quiet --dry-run --target "$(VENV)/none" --python-version $$python --python-platform $$platform \
	      --only-binary :all: --require-hashes -r requirements-dev.lock || missing=1; \
	  done; \
	done; exit $$missing

# What running needs is less than what checks and tests need.
$(RUNS): requirements.lock
	@sh .ci/environment make "$(PYTHON)" "$(VENV)" requirements.lock
	@touch "$@"

$(STAMP): requirements-dev.lock pyproject.toml
	@sh .ci/environment make "$(PYTHON)" "$(VENV)" requirements-dev.lock
	@touch "$@" "$(RUNS)"

# A Python that was named is checked each time, not only when the environment is made.
ifneq ($(origin PYTHON),file)
$(STAMP) $(RUNS): | python
endif
python:
	@sh .ci/environment check "$(PYTHON)" "$(VENV)"

# Changed source is read and compiled once, not by each process of the tests and each bot that they start.
compiled: $(STAMP)
	@if ! test -f "$(COMPILED)" || test -n "$$(find bot tests -name '*.py' -newer "$(COMPILED)" | head -1)"; then \
	  touch "$(COMPILED)"; $(PYTEST) --collect-only -q tests >/dev/null 2>&1 || true; \
	fi

# Needs uv. The lock files name versions and hashes, and neither an index nor a host. requirements.lock is the bot,
# requirements-mcp.lock only the tools for AI agents, requirements-build.lock builds the package, requirements-dev.lock is all.
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
lock:
	$(LOCK) pyproject.toml -o requirements.lock
	$(LOCK) --group agents -c requirements.lock -o requirements-mcp.lock
	$(LOCK) pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	$(LOCK) --group build -c requirements-dev.lock -o requirements-build.lock

# What the images' names mean is then fixed. Needs Docker.
digests:
	@sh .ci/digests Dockerfile compose.yaml

clean:
	rm -rf "$(VENV)" .mypy_cache .ruff_cache .pytest_cache .hypothesis
