"""Ask a judge or a scorer about one part of the items of all models' answers."""

from punchline.stages.infer import write_judge_shard
from punchline.stages.job import run

if __name__ == "__main__":
    run(write_judge_shard, "judge_shard")
