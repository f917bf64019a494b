"""Pages to look at: results/report/."""

from punchline.report.site import write_report
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_report, "report")
