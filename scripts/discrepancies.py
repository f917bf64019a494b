"""Where the two rules differ on the same answers."""

from punchline.stages.job import run
from punchline.stages.tabulate import write_discrepancies

if __name__ == "__main__":
    run(write_discrepancies, "discrepancies")
