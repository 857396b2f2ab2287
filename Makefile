# Two commands do everything: `make demo` and `make test`. Both set up a virtual environment first.

VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check format fuzz fuzz-net soak exits bench bench-elastic bench-lubm pictures clean

demo: $(READY)
	$(BIN)/python examples/demo.py

test: check
	@echo "a first run, so that kernels that have changed are compiled once and not by every test process"
	$(BIN)/tidelog run examples/reach/reach.dl -F examples/reach/facts -D - --local > /dev/null
	$(BIN)/python -m pytest -n 2 --dist worksteal tests

check: $(READY)
	$(BIN)/ruff format --check src tests benchmarks examples tools
	$(BIN)/ruff check src tests benchmarks examples tools
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_layers.py

format: $(READY)
	$(BIN)/ruff format src tests benchmarks examples tools
	$(BIN)/ruff check --fix src tests benchmarks examples tools

fuzz: $(READY)
	TIDELOG_FUZZ=100000 $(BIN)/python -m pytest -n 2 tests/test_random_programs.py tests/lang/test_fuzz.py
	TIDELOG_FUZZ=50000 $(BIN)/python -m pytest -n 2 tests/evaluate/test_elastic.py
	TIDELOG_FUZZ=5000 $(BIN)/python -m pytest -n 2 tests/rdf/test_sparql_random.py
	TIDELOG_FUZZ=20000 $(BIN)/python -m pytest -n 2 --timeout 7200 tests/evaluate/test_best_of.py

# 122,500 cases of a few protocols (43,750 of them networks with recursive min and max, 43,750 with supports, 35,000 from
# scratch), then 100,000 programs that differ; several bursts, all schedules, no lost messages. Half an hour.
fuzz-net: $(READY)
	TIDELOG_FUZZ=350000 $(BIN)/python -m pytest -n 2 --timeout 14400 tests/net/test_net_recursion.py
	TIDELOG_FUZZ=1000000 $(BIN)/python -m pytest -n 2 --timeout 14400 tests/net/test_net_wide.py

# Processes that are killed 200 times, and die or fail at every one of some 1,700 file operations; hours.
soak: $(READY)
	TIDELOG_SOAK=1 $(BIN)/python -m pytest -n 2 --timeout 7200 tests/state/test_crashes.py

# A tiny program, run 2,000 times, four at a time: none may crash at its end. Ten minutes.
exits: $(READY)
	TIDELOG_EXITS=2000 $(BIN)/python -m pytest tests/cli/test_exit.py

bench: $(READY) bench-elastic
	$(BIN)/python -m benchmarks.batch
	$(BIN)/python -m benchmarks.io
	$(BIN)/python -m benchmarks.pipeline
	$(BIN)/python -m benchmarks.programs
	$(BIN)/python -m benchmarks.best_of
	$(BIN)/python -m benchmarks.distributed.one_and_two

# Hours, if all the data is there; `make bench-elastic ELASTIC='--workloads cspa10k --timeout 60'` is minutes.
bench-elastic: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.elastic $(ELASTIC)
	$(BIN)/python -m benchmarks.elastic.report

# The picture of imports and the files of one-fact.md in docs/dev/; and names that stand for several things.
pictures: $(READY)
	$(BIN)/python -m tools.import_graph
	$(BIN)/python -m tools.one_fact
	$(BIN)/python -m tools.names

# Universities of LUBM, 1 to 100: a quarter of an hour; `make bench-lubm LUBM='1 10'` is a minute.
bench-lubm: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.lubm $(LUBM)

clean:
	rm -rf $(VENV) build dist src/*.egg-info

$(READY): pyproject.toml setup.py constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tidelog needs Python 3.11 or newer; this is $$($(PYTHON) --version)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "installing Tidelog from these sources, which compiles the kernels; a minute or two"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/python -m compileall -q src
	@touch $@
