#!/bin/sh
# Lint and format first (seconds), then every test but those that need much installed, or a minute on a busy machine.
# Types are checked beside them: half a minute in a fresh clone.
set -eu
ruff check .
ruff format --check .
snakefmt --check Snakefile rules
# Tests copy whole projects, and every file is synced: in memory if there is room for it and programs may run there.
space=/dev/shm
free=$(df -Pk "$space" 2> /dev/null | awk 'NR == 2 { print $4 }')
if [ "${free:-0}" -lt 6000000 ] || grep -q " $space .*noexec" /proc/mounts; then
    space=${TMPDIR:-/tmp}
fi
TMPDIR=$(mktemp -d "$space/punchline.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM
status=0
mypy > "$TMPDIR/types" 2>&1 &
of_types=$!
python -m pytest -n 2 --dist loadscope --no-loadscope-reorder -m "not long" --ignore tests/engines --ignore tests/cluster \
    -o tmp_path_retention_policy=failed "$@" || status=$?
wait "$of_types" || status=$?
cat "$TMPDIR/types"
exit $status
