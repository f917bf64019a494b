"""POSTs that a counting server receives, step by step, through the real Snakefile: tests/golden/posts.

The steps use only targets, `--config`, cards, prompts, and files below data/responses and results. Journals with other
shards, lost files and states of answers change the number of questions, and nothing else may.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.golden.compare import check
from tests.servers.scripted import Call, completion, scripted

from .project import Project

pytestmark = pytest.mark.long

TABLES = ("results/yesbut/table3.csv", "results/humorbench/leaderboard.csv")
CONFIG = "benchmarks=[yesbut,humorbench] models=[served] judge=served scorers=null conditions=[oracle,chained]"
JUDGING = "judging"  # id of the judge
MARK = "OWN-ANSWER"  # in every answer of the model
PROMPT = "src/punchline/benchmarks/yesbut/prompts/contradiction_2.txt"
PROMPTS = {  # words of a prompt: state of the answer, state of the verdict on the answer
    "Write a one-paragraph literal description": ("failed", "ok"),
    "Please literally describe": ("refused", "ok"),
    "Give me a detailed literal description": ("unparsable", "ok"),
    "Write a short explanation": ("ok", "failed"),
    "Identify and concisely describe": ("ok", "refused"),
    "Give me the concise contradiction": ("ok", "unparsable"),
}


class Counting:
    """Answers of a server, and counts of its POSTs by benchmark and pass; with `mixed`, by state too."""

    def __init__(self) -> None:
        self.posts: Counter[str] = Counter()
        self.mixed = False

    def answer(self, call: Call) -> None:
        body = json.loads(call.body)
        text = json.dumps(body["messages"])
        state, verdict = next((states for words, states in PROMPTS.items() if words in text), ("ok", "ok"))
        step = "judge" if body["model"] == JUDGING else "follow-up" if MARK in text else "main"
        if step == "judge":
            state = next((words for words in ("failed", "refused", "unparsable") if f"verdict {words}" in text), "ok")
        elif not self.mixed:
            verdict = "ok"
        state = state if self.mixed else "ok"
        name = f"{'humorbench' if 'cartoon' in text.lower() else 'yesbut'} {step}"
        self.posts[f"{name} {state}" if self.mixed else name] += 1
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        reply(call, state, f"[[4]] {digest}" if step == "judge" else f"{MARK} {digest}, verdict {verdict}")


def reply(call: Call, state: str, text: str) -> None:
    """A chat completion of that state."""
    choices = {
        "refused": {"message": {"content": None}, "finish_reason": "content_filter"},
        "unparsable": {"message": {"content": "<think>An unfinished"}, "finish_reason": "length"},
    }
    if state == "failed":
        call.json({"error": {"message": "out of order"}}, 500)
    else:
        call.json(completion("", choices=[choices[state]]) if state in choices else completion(text))


class Replay:
    """Steps of one scenario on one project."""

    def __init__(self, project: Project, counting: Counting, scenario: str) -> None:
        self.project, self.counting, self.scenario = project, counting, scenario
        self.steps: list[str] = []
        self.responses = project.path / "data/responses"

    def run(self, step: str, limit: int, shards: int | None = None) -> None:
        """Build the tables, and note the POSTs."""
        page = f"{CONFIG} limit={limit}" + (f" shards={shards}" if shards else "")
        self.note(step, lambda: self.project.snakemake(*TABLES, config=page))

    def note(self, step: str, action: Callable[[], object]) -> None:
        self.counting.posts.clear()
        action()
        self.steps.append(json.dumps({"step": step, "posts": dict(sorted(self.counting.posts.items()))}))

    def files(self, *patterns: str) -> list[Path]:
        """Files below data/responses, at least one for each pattern."""
        result = [sorted(self.responses.glob(pattern)) for pattern in patterns]
        assert all(result), patterns
        return [path for paths in result for path in paths]

    def lose(self, *patterns: str) -> None:
        for path in self.files(*patterns):
            path.unlink()

    def check(self) -> None:
        """Compare the steps with the pinned ones."""
        check(f"posts/{self.scenario}", {"posts.jsonl": self.steps})


@pytest.fixture
def start(fresh: Project) -> Iterator[Callable[[str], Replay]]:
    """Function that starts a scenario in a new copy of the project."""
    project, counting = fresh, Counting()
    with scripted(counting.answer) as server:
        for folder, name in (("model", "asked"), ("judge", JUDGING)):
            project.add_served("served", server.url, "attempts: 1\nbreaker: 0\n", folder, id=name)
        yield lambda scenario: Replay(project, counting, scenario)


def split_journals(replay: Replay) -> None:
    """Half of the lines of each journal in that of a seventh shard, with a last line that a kill cut off."""
    for journal in replay.files("*/served.jsonl", "*/chained/served.jsonl", "*/judge/served.jsonl"):
        shards = sorted((journal.parent / "shards/served").glob("*.jsonl"))
        lines = [line for path in (journal, *shards) for line in path.read_bytes().splitlines(keepends=True)]
        for shard in shards:
            shard.unlink()
        seventh = journal.parent / "shards/served/7.jsonl"
        seventh.parent.mkdir(parents=True, exist_ok=True)
        journal.write_bytes(b"".join(lines[::2]))
        seventh.write_bytes(b"".join(lines[1::2]) + b'{"record":{"bench')


def test_number_of_shards(start: Callable[[str], Replay]) -> None:
    replay = start("one_shard")
    replay.run("2 comics", 2)
    replay.run("the same comics in 3 shards", 2, 3)
    replay.run("a third comic in 3 shards", 3, 3)
    replay.run("a fourth comic in 1 shard", 4)
    replay.check()


def test_losses(start: Callable[[str], Replay]) -> None:
    replay = start("losses")
    replay.run("2 comics", 2, 2)
    replay.lose("**/*.jsonl")
    replay.run("journals lost", 2, 2)
    replay.lose("**/*.parquet")
    replay.run("snapshots lost", 2, 2)
    for table in TABLES:
        (replay.project.path / table).unlink()
    replay.run("tables lost", 2, 2)
    replay.lose("yesbut/*.jsonl", "yesbut/shards/*/*.jsonl", "yesbut/*.parquet")
    replay.run("journal and snapshot of answers lost, 1 shard", 2)
    replay.lose("yesbut/chained/**/*.jsonl", "yesbut/chained/*.parquet", "*/judge/**/*.jsonl", "*/judge/*.parquet")
    replay.run("journals and snapshots of follow-up answers and verdicts lost, 3 shards", 2, 3)
    split_journals(replay)
    replay.lose("**/*.parquet")
    replay.run("half of every journal in the journal of a seventh shard, 1 shard", 2)
    replay.check()


def test_prompt_word(start: Callable[[str], Replay]) -> None:
    replay = start("prompt_word")
    replay.run("2 comics", 2, 3)
    replay.project.edit(PROMPT, "the provided image", "the given image")
    replay.run("a prompt word changed", 2, 3)
    replay.project.edit(PROMPT, "the given image", "the provided image")
    replay.run("the prompt word restored", 2, 3)
    replay.check()


def test_states(start: Callable[[str], Replay]) -> None:
    replay = start("states")
    replay.counting.mixed = True
    replay.run("one of each prompt's states", 2)
    replay.run("the same again", 2)
    replay.counting.mixed = False
    replay.note("retry on a server that answers", lambda: replay.project.punchline("retry"))
    replay.run("nothing has failed", 2)
    replay.check()
