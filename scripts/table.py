"""Make one table of a paper, and its lineage."""

from punchline.stages.job import run
from punchline.stages.tabulate import write_table

if __name__ == "__main__":
    run(write_table, "table")
