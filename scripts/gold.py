"""What is right for each item."""

from punchline.stages.job import run
from punchline.stages.prepare import write_gold

if __name__ == "__main__":
    run(write_gold, "gold")
