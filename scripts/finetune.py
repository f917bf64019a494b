"""Train one adapter."""

from punchline.stages.finetune import write_adapter
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_adapter, "finetune")
