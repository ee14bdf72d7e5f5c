# `make` lists what there is. Everything happens in .venv, made on first use.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TORCH ?= torch==2.13.0
OUT ?= book

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast check format clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# An exact torch first: that takes the plain CPU build where an index offers one.
$(VENV)/.program: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet $(TORCH)
	$(BIN)/pip install --quiet --editable '.[voice-joe,api]'
	@touch $@

$(VENV)/.tools: $(VENV)/.program
	$(BIN)/pip install --quiet --editable '.[voice-joe,dev]'
	@touch $@

setup: $(VENV)/.tools ## Make the environment (voice, tests and tools included)

demo: $(VENV)/.program ## Set up, then turn examples/book.txt into book/book.m4b
	$(BIN)/tts-batch submit examples/book.txt --out $(OUT)

test: $(VENV)/.tools ## Set up, then run all tests
	$(BIN)/pytest -n 2 --dist loadfile

test-fast: $(VENV)/.tools ## Only tests without real voices, servers or waiting
	$(BIN)/pytest -m 'not voice and not slow and not services'

check: $(VENV)/.tools ## Lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.tools ## Apply the formatter and safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove the environment and caches
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
