#!/bin/sh
# The whole suite: lint and format first (seconds), then the tests.
set -eu
ruff check .
ruff format --check .
snakefmt --check Snakefile rules
mypy
python -m pytest -n 2 --dist loadgroup --ignore tests/engines --ignore tests/cluster "$@"
