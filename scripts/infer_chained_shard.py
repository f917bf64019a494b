"""Ask one model what hangs on its own answers about one part of the items."""

from punchline.stages.infer import write_chained_shard
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_chained_shard, "infer_chained_shard")
