"""Fetch the images of the selected items of one benchmark."""

from punchline.stages.fetch.commands import write_images
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_images, "images")
