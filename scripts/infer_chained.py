"""Ask one model what hangs on its own answers."""

from punchline.stages.infer import write_chained
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_chained, "infer_chained")
