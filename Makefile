# Two commands: `make demo` and `make test`. Each works alone on a fresh clone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LOOPS := $(wildcard src/fairpca/compiled/*.[ch])

.PHONY: demo test thorough packages coverage docs lint reference paper paper-quick clean

demo: $(VENV)/.demo
	MPLBACKEND=Agg $(BIN)/fairpca demo --output demo

# Two processes with one thread each: more would wait for each other.
test: $(VENV)/.test lint
	OMP_NUM_THREADS=1 MPLBACKEND=Agg $(BIN)/python -m pytest --numprocesses 2

# Tests of some seconds each, which `make test` leaves out to stay short.
thorough: $(VENV)/.test
	OMP_NUM_THREADS=1 MPLBACKEND=Agg $(BIN)/python -m pytest --numprocesses 2 -m "thorough and not slow"

# What users install: built from the last commit, checked, installed in a fresh environment and tested there.
packages: $(VENV)/.test
	$(BIN)/python benchmarks/packages.py quick

# Apart from the test, because tracing every line takes time.
coverage: $(VENV)/.test
	MPLBACKEND=Agg $(BIN)/python -m pytest --numprocesses 2 --cov --cov-report=term

# The site, docs/_build/html/index.html: all code of its pages and its gallery is run, and its links are checked.
docs: $(VENV)/.docs
	MPLBACKEND=Agg $(BIN)/python -m sphinx -b html -W --keep-going --jobs 2 --quiet docs docs/_build/html
	$(BIN)/python docs/_ext/check_site.py docs/_build/html

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Own answers beside the published ones on identical rows, with ratios of speed.
reference: $(VENV)/.test
	$(BIN)/python benchmarks/reference.py

# The experiments of the paper, into paper/: hours, or minutes with fewer splits and settings. A stopped run goes on.
paper: $(VENV)/.test
	$(BIN)/python -m experiments all --jobs 2

paper-quick: $(VENV)/.test
	$(BIN)/python -m experiments all --quick --jobs 2 --output paper-quick

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml $(LOOPS)
	$(BIN)/python -m pip install --quiet --editable '.[cli,plot]'
	touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml $(LOOPS)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@ $(VENV)/.demo

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml $(LOOPS)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) build dist demo docs/_build docs/api/generated docs/auto_examples .coverage .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
	find src \( -name '*.so' -o -name '*.egg-info' \) -prune -exec rm -rf {} +
