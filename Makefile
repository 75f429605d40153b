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
# Byte code is written when a module is first used, not for all of them at once: 100 MB less on disk. Where the
# environment forbids that, every process would compile every module again, which takes longer than most commands do.
export PYTHONDONTWRITEBYTECODE :=
# An older wheel is better than a newer source that needs a compiler; a home that is read-only has no cache, and no warning about it.
CACHE := $(shell test -w "$$HOME" || echo --no-cache-dir)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --prefer-binary $(CACHE) $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-product fuzz check format bench docs page clean test-clusters test-lowest mutants wheel

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMP)-exact,excel ## Audit the bundled drug screen and write its report
	$(BIN)/recombine demo $(ARGS)

# A thread for each worker: more of them get in each other's way. Neighbouring tests stay together, since many share
# what is slow; a worker that has nothing left takes half of what another one has left.
test: $(STAMP)-$(TEST_EXTRAS) ## Run the tests (the slow ones too: ARGS="-m ''")
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" $(ARGS)

# Without the laboratory: papers, networks and what runs them.
test-product: $(STAMP)-$(TEST_EXTRAS) ## Run the tests of what users of tables need, without papers and networks
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" tests src docs README.md \
		--ignore=tests/lab --ignore=src/recombine/lab --ignore=docs/papers --ignore=docs/networks.md $(ARGS)

# Ten thousand cases take a quarter of an hour on two cores: make fuzz FUZZ_CASES=10000 FUZZ_SEED=1
FUZZ_CASES ?= 2000
FUZZ_SEED ?= 0
fuzz: $(STAMP)-$(TEST_EXTRAS) ## Try to break every command, reader, write and verdict (minutes; FUZZ_CASES=10000)
	OMP_NUM_THREADS=1 $(BIN)/python tests/fuzz/run_cases.py --cases $(FUZZ_CASES) --seed $(FUZZ_SEED) --workers $(WORKERS)
	OMP_NUM_THREADS=1 $(BIN)/python tests/fuzz/run_verdicts.py --cells $(FUZZ_CASES)0 --seed $(FUZZ_SEED) --workers $(WORKERS)
	OMP_NUM_THREADS=1 RECOMBINE_FUZZ_CASES=$(FUZZ_CASES) $(BIN)/python -m pytest -n $(WORKERS) tests/fuzz \
		--deselect tests/fuzz/test_commands.py $(ARGS)

# In an environment of its own. Old libraries deprecate things that newer ones mended: their warnings are no errors here.
# What a library cannot change (papers, the architecture, packs for bare machines) is left out: LOWEST_TESTS=tests runs that too.
LOWEST_TESTS ?= tests --ignore=tests/lab/papers --ignore=tests/architecture --ignore=tests/lab/runs/test_ship.py
test-clusters: $(STAMP)-$(TEST_EXTRAS) ## Kill workers of a local Dask cluster, and of Slurm if it is installed (as root)
	$(BIN)/python -m pytest -n 0 -m slow tests/lab/runs/test_clusters.py $(ARGS) -k dask
	if command -v slurmctld > /dev/null; then sh tools/slurm.sh $(BIN)/python -m pytest -n 0 -m slow tests/lab/runs/test_clusters.py $(ARGS) -k slurm; fi

test-lowest: ## Run the tests with the lowest versions that pyproject.toml allows
	@test -x $(VENV)-lowest/bin/python || sh tools/venv.sh "$(PYTHON)" "$(VENV)-lowest"
	$(VENV)-lowest/bin/python tools/lowest.py $(TEST_EXTRAS) > $(VENV)-lowest/lowest.txt
	$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --prefer-binary $(CACHE) \
		--constraint $(VENV)-lowest/lowest.txt --editable '.[$(TEST_EXTRAS)]'
	OMP_NUM_THREADS=1 $(VENV)-lowest/bin/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" -W default $(LOWEST_TESTS) $(ARGS)

# In an environment and a copy of their own; about an hour on one core. ARGS="--packages guard --count 10 --seed 7": fewer.
mutants: ## Plant 300 small bugs in a copy, one at a time, and list those that no test catches (an hour)
	@test -x $(VENV)-mutants/bin/python || sh tools/venv.sh "$(PYTHON)" "$(VENV)-mutants"
	$(VENV)-mutants/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --prefer-binary $(CACHE) --editable '.[mutants]'
	$(VENV)-mutants/bin/python tools/mutants.py --work $(VENV)-mutants/work $(ARGS)

wheel: $(STAMP)-exact ## Build the wheel into dist, install it in an environment of its own and use it
	$(BIN)/python tools/use_wheel.py

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

page: ## Check, test and build the page that `recombine explore` opens (needs node 20 or newer; ARGS=--check writes nothing)
	cd page && npm ci --no-audit --no-fund && npm run check && npm test && npm run build -- $(ARGS)

clean: ## Remove the environment and every cache
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-mutants .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks dist build docs/_build docs/generated page/node_modules page/build

$(BIN)/python:
	@sh tools/venv.sh "$(PYTHON)" "$(VENV)"

# One stamp per extra: installed once, and again when pyproject.toml changes.
$(STAMP)-%: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[$*]'
	@touch $@
