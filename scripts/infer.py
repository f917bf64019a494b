"""Ask one model what it has not answered yet, of all selected benchmarks."""

from punchline.stages.infer import write_answers
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_answers, "infer")
