"""A benchmark's items, for the report."""

from punchline.report.items import write_items
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_items, "report_items")
