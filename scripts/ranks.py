"""How sure the order of models in a benchmark's tables is."""

from punchline.stages.job import run
from punchline.stages.ranks import write_ranks

if __name__ == "__main__":
    run(write_ranks, "ranks")
