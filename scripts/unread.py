"""How many answers to a benchmark were read, and what those say that were not."""

from punchline.stages.job import run
from punchline.stages.tabulate import write_unread

if __name__ == "__main__":
    run(write_unread, "unread")
