"""A table as a picture for a paper."""

from punchline.report.site import write_figure
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_figure, "figure")
