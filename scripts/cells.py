"""Make one model's part of all tables of a benchmark."""

from punchline.stages.cells import write_cells
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_cells, "cells")
