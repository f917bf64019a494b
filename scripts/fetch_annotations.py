"""Fetch the released files of one benchmark."""

from punchline.stages.fetch.commands import write_annotations
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_annotations, "raw")
