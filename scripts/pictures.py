"""What models see of the published images."""

from punchline.stages.job import run
from punchline.stages.pictures import write_pictures

if __name__ == "__main__":
    run(write_pictures, "pictures")
