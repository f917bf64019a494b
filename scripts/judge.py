"""Ask a judge or a scorer about the answers of all models."""

from punchline.stages.infer import write_verdicts
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_verdicts, "judge")
