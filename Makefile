# A fresh clone needs python3 (3.11 or newer) and make; everything else goes into $(VENV).
PYTHON ?= python3
VENV ?= .venv
# A pip constraints file, for builds that must be repeatable: make test CONSTRAINTS=constraints-ci.txt
CONSTRAINTS ?=
# What `make test` and `make check` install. Tests that train networks run where torch is there: TEST_EXTRAS=test,nets.
TEST_EXTRAS ?= test
CHECK_EXTRAS ?= check,nets
# Two workers are a good fit for small machines; WORKERS=auto uses every core.
WORKERS ?= 2
ARGS ?=

BIN := $(VENV)/bin
# Byte code is written when a module is first used, not for all of them at once: 100 MB less on disk.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench docs page clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMP)-exact ## Audit the bundled flights table and write its report
	$(BIN)/recombine demo $(ARGS)

# A thread for each worker: more of them get in each other's way.
test: $(STAMP)-$(TEST_EXTRAS) ## Run the tests (the slow ones too: ARGS="-m ''")
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) -m "not slow" $(ARGS)

check: $(STAMP)-$(CHECK_EXTRAS) ## Formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP)-$(CHECK_EXTRAS) ## Put the code into its standard form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)-bench ## Run every benchmark
	@set -e; for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file; done

docs: $(STAMP)-docs ## Build the documentation into docs/_build
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

page: ## Check, test and build the page that `recombine explore` opens (needs node 20 or newer)
	cd page && npm ci --no-audit --no-fund && npm run check && npm test && npm run engine && npm run build --if-present

clean: ## Remove the environment and every cache
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks dist build docs/_build docs/generated page/node_modules page/build

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Recombine needs Python 3.11 or newer; name one with PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# One stamp per extra: installed once, and again when pyproject.toml changes.
$(STAMP)-%: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[$*]'
	@touch $@
