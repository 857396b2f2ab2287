# Two commands do everything: `make demo` and `make test`. Both set up a virtual environment first.

VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check format fuzz soak bench bench-elastic clean

demo: $(READY)
	$(BIN)/python examples/demo.py

test: check
	@echo "a first run, so that the kernels are compiled once and not by every test process"
	$(BIN)/tidelog run examples/reach/reach.dl -F examples/reach/facts -D - --local > /dev/null
	$(BIN)/python -m pytest -n 2 --dist worksteal tests

check: $(READY)
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_layers.py

format: $(READY)
	$(BIN)/ruff format src tests benchmarks examples
	$(BIN)/ruff check --fix src tests benchmarks examples

fuzz: $(READY)
	TIDELOG_FUZZ=100000 $(BIN)/python -m pytest -n 2 tests/test_random_programs.py tests/lang/test_fuzz.py
	TIDELOG_FUZZ=50000 $(BIN)/python -m pytest -n 2 tests/evaluate/test_elastic.py

# Processes that are killed 200 times, and die or fail at every one of some 1,700 file operations; hours.
soak: $(READY)
	TIDELOG_SOAK=1 $(BIN)/python -m pytest -n 2 --timeout 7200 tests/state/test_crashes.py

bench: $(READY) bench-elastic
	$(BIN)/python -m benchmarks.batch
	$(BIN)/python -m benchmarks.io
	$(BIN)/python -m benchmarks.pipeline

# Hours, if all the data is there; `make bench-elastic ELASTIC='--workloads cspa10k --timeout 60'` is minutes.
bench-elastic: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.elastic $(ELASTIC)
	$(BIN)/python -m benchmarks.elastic.report

clean:
	rm -rf $(VENV) build dist src/*.egg-info

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tidelog needs Python 3.11 or newer; this is $$($(PYTHON) --version)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/python -m compileall -q src
	@touch $@
