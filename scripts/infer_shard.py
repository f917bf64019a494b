"""Ask one model what it has not answered yet about one part of the items, of all selected benchmarks."""

from punchline.stages.infer import write_shard
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_shard, "infer_shard")
