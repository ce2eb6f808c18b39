# Three commands for everyone: `make demo`, `make studio` and `make test`. All set everything up in .venv first.
# The rest is for developers: test-all, lint, types, docs, bench, check-all, clean.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
OUT ?= demo-output
VERSIONS ?= 3.11 3.12 3.13
# what every test would compile for itself, once, in two processes
COMPILE := $(BIN)/python -c "from bunraku.flow.compiling import GROUPS, compile_ahead; compile_ahead(*GROUPS)"

# a browser for the tests of the studio, if there is none; without one they are skipped, and say so
BROWSER := $(BIN)/python scripts/get_browser.py

.PHONY: demo studio test test-all compile lint types docs bench check-all clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.core
	@$(BIN)/bunraku demo speech -o $(OUT)

studio: $(VENV)/.studio
	@$(BIN)/bunraku studio

test: compile
	$(BIN)/python -m pytest -n 2 --dist worksteal

# the same under every Python that is supported and found, by its name or by pyenv, each in a virtual environment of its own
test-all:
	@for version in $(VERSIONS); do \
		found=; \
		for one in python$$version $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$version.*/bin/python; do \
			"$$one" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$$version')" 2>/dev/null && found=$$one && break; \
		done; \
		if [ -z "$$found" ]; then echo "Python $$version was not found, so nothing was tested under it; pyenv install $$version"; continue; fi; \
		echo "Testing under $$($$found --version)"; \
		$(MAKE) --no-print-directory test VENV=$(VENV)-$$version PYTHON=$$found || exit 1; \
	done

compile: $(VENV)/.test
	@$(COMPILE)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	@for system in linux darwin win32; do \
		echo "mypy as on $$system"; \
		$(BIN)/mypy --platform $$system --cache-dir .mypy_cache/$$system || exit 1; \
	done

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

bench: $(VENV)/.bench
	$(BIN)/bunraku bench

check-all: $(VENV)/.bench
	@echo "Installing robots to import and crocoddyl (about 240 MB)"
	@$(PIP) -e ".[check-all]"
	$(BIN)/python -m pytest -m exhaustive
	BUNRAKU_EXAMPLES=new $(BIN)/python -m pytest -n 2 -m "hypothesis and not exhaustive"
	$(BIN)/bunraku bench --exhaustive

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Bunraku needs Python 3.11 or newer; none was found. Install it, or say: make PYTHON=/path/to/python3.12"; exit 2; }
	@echo "Making a virtual environment in $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { echo "python -m venv failed; on Debian and Ubuntu: apt install python3-venv"; rm -rf $(VENV); exit 2; }

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	@echo "Installing Bunraku and its core dependencies (numpy, scipy, numba, mujoco, ...; about 700 MB on disk, once)"
	@$(PIP) -e .
	@touch $@

$(VENV)/.studio: pyproject.toml | $(VENV)/bin/python
	@echo "Installing Bunraku with the studio (once)"
	@$(PIP) -e ".[studio,fabrication]"
	@touch $@ $(VENV)/.core

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	@echo "Installing Bunraku with what its tests need (once)"
	@$(PIP) -e ".[test]"
	@$(BROWSER)
	@touch $@ $(VENV)/.core $(VENV)/.studio

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Installing linter, type checker and documentation tools (once)"
	@$(PIP) -e ".[test,lint,docs]"
	@$(BROWSER)
	@touch $@ $(VENV)/.test $(VENV)/.studio $(VENV)/.core

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	@echo "Installing the solvers we compare with (once)"
	@$(PIP) -e ".[test,bench]"
	@$(BROWSER)
	@touch $@ $(VENV)/.test $(VENV)/.studio $(VENV)/.core

clean:
	rm -rf $(VENV) $(VENV)-3.* $(OUT) docs/_build docs/gallery docs/reference build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
