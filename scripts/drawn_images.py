"""The ledger of a drawn corpus."""

from punchline.stages.job import run
from punchline.stages.pictures import write_drawn

if __name__ == "__main__":
    run(write_drawn, "images")
