"""How many images of each source are there, and why others are not."""

from punchline.stages.fetch.commands import write_availability_of
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_availability_of, "availability")
