"""The main values of every table, for dvc metrics."""

from punchline.stages.job import run
from punchline.stages.metrics import write_metrics

if __name__ == "__main__":
    run(write_metrics, "metrics")
