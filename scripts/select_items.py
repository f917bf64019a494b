"""Which items of a corpus are evaluated."""

from punchline.stages.job import run
from punchline.stages.prepare import write_selected

if __name__ == "__main__":
    run(write_selected, "select_items")
