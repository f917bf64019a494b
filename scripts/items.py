"""What models may be shown of each item."""

from punchline.stages.job import run
from punchline.stages.prepare import write_items

if __name__ == "__main__":
    run(write_items, "items")
