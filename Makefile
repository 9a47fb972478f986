# Every target makes .venv by itself, from the exact versions in requirements.lock.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test check lint format clean

setup: .venv/.ready

.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Forklift needs Python 3.11 or later, and $(PYTHON) is " + sys.version.split()[0] + "; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: setup
	$(BIN)/forklift extract examples/invoice.pdf --schema invoice

test: setup
	$(BIN)/python -m pytest

check: lint test

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy src

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
