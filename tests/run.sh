#!/bin/sh
# Lint and format first (seconds), then every test but those that need much installed, or a minute or more.
set -eu
ruff check .
ruff format --check .
snakefmt --check Snakefile rules
mypy
python -m pytest -n 2 --dist loadscope --no-loadscope-reorder -m "not long" --ignore tests/engines --ignore tests/cluster "$@"
