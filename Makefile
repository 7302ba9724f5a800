# `make demo` and `make test` are the two commands of the README; each makes its own virtual environment when there is none.
PYTHON ?= python3
VENV   ?= .venv
# How many processes share the tests. ARGS="-n 0" runs them in one, as a debugger needs it.
WORKERS ?= 2
BIN     = $(VENV)/bin
ARGS   ?=

.PHONY: demo test lint clean

demo: $(VENV)/.local
	$(BIN)/videohv demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.local: $(VENV)/bin/pip pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[local]'
	touch $@

$(VENV)/.dev: $(VENV)/bin/pip pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.local

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist build
