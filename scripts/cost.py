"""What answers and verdicts have cost."""

from punchline.stages.cost import write_cost
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_cost, "cost")
