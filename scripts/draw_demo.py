"""Draw the demo corpus of one benchmark."""

from punchline.stages.draw import write_demo
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_demo, "raw")
