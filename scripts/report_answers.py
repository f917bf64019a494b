"""A model's answers to a benchmark, for the report."""

from punchline.report.answers import write_answers
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_answers, "report_answers")
