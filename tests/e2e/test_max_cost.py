"""A cap on money through the real graph: a server that bills more than the cap pays for is asked less."""

import json
from collections import Counter
from pathlib import Path

from tests.servers.scripted import Call, completion, scripted

from .project import Project

TABLE = "results/humorbench/leaderboard.csv"
CONFIG = "benchmarks=[humorbench] models=[served,other] limit=8"
COST = 0.5  # USD of a reply: 100,000 tokens in, 200,000 out
PRICE = "price: {input: 1, output: 2, date: 2026-01-01, source: made up for this test}\n"


def test_asking_stops_before_the_cap_and_goes_on_from_there(tmp_path: Path) -> None:
    project, requests = Project.copy(tmp_path / "p"), Counter[str]()  # requests by model

    def answer(call: Call) -> None:
        requests[json.loads(call.body)["model"]] += 1
        usage = {"prompt_tokens": 100_000, "completion_tokens": 200_000, "total_tokens": 300_000}
        call.json(completion("<explanation>A pun.</explanation>", usage=usage))

    def spent() -> float:
        return requests.total() * COST

    with scripted(answer) as server:
        for name in ("served", "other"):
            card = f"engine: openai\nid: {name}\nbase_url: {server.url}/v1\nconcurrency: 4\nmodality: [text]\n"
            file = project.path / f"config/model/{name}.yaml"
            file.write_text(f"{card}sampling: {{max_tokens: 250000}}\n")
        output = project.snakemake(TABLE, config=f"{CONFIG} max_cost=5", fails=True)
        assert "max_cost cannot be kept: the card has no price" in output and not requests
        for name in ("served", "other"):
            file = project.path / f"config/model/{name}.yaml"
            file.write_text(file.read_text() + PRICE)
        output = project.snakemake(TABLE, config=f"{CONFIG} max_cost=2.6", fails=True)
        assert 1 < spent() <= 2.6
        last = output.strip().splitlines()[-1]
        assert "max_cost=2.6 is reached" in output and "are not sent" in output, output
        assert "Run the same command again" in last, last
        before = requests.total()
        project.snakemake(TABLE, config=f"{CONFIG} max_cost=20")
        assert before < requests.total() == 16, "two models, eight elements: nothing is asked twice"
        assert project.to_run(TABLE, config=CONFIG) == set(), "a cap is no part of the selection"
