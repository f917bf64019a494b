#!/bin/sh
# Lint and format first (seconds), then every test but those that need much installed, or a minute on a busy machine.
# Types are checked beside them: half a minute in a fresh clone.
set -eu
ruff check .
ruff format --check .
snakefmt --check Snakefile rules
types=$(mktemp)
status=0
mypy > "$types" 2>&1 &
of_types=$!
python -m pytest -n 2 --dist loadscope --no-loadscope-reorder -m "not long" --ignore tests/engines --ignore tests/cluster "$@" ||
    status=$?
wait "$of_types" || status=$?
cat "$types"
rm "$types"
exit $status
