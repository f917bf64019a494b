"""Score one model's answers to one benchmark, under both rules."""

from punchline.stages.grade import write_grades
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_grades, "grade")
