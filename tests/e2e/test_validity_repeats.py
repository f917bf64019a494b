"""Ten verdicts on each answer, by a server whose verdicts differ on some."""

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.servers.scripted import Call, completion, scripted

from .project import Project

CONFIG = "benchmarks=[humorbench] models=[echo] judge=ten limit=6"
REPEATS, VERDICTS = "results/humorbench/repeats.csv", "results/humorbench/verdicts.csv"


def test_elements_whose_verdicts_differ_come_first(tmp_path: Path) -> None:
    """The judge passes the first answer 6 times of 10, and all others always."""
    project, given = Project.copy(tmp_path / "p"), Counter[str]()

    def reply(call: Call) -> None:
        prompt = json.dumps(json.loads(call.body)["messages"])
        given[prompt] += 1
        passed = prompt != next(iter(given)) or given[prompt] <= 6
        call.json(completion(f"<judgement>{'PASS' if passed else 'FAIL'}</judgement>"))

    with scripted(reply) as server:
        card = f"engine: openai\nid: j\nbase_url: {server.url}/v1\nconcurrency: 1\nsamples: 10\n"
        Path(project.path, "config/judge/ten.yaml").write_text(card)
        project.snakemake(REPEATS, VERDICTS, config=CONFIG)
        assert project.to_run(REPEATS, VERDICTS, config=CONFIG) == set()
    assert [*given.values()] == [10] * 6
    rows = [row for row in project.rows(VERDICTS) if row["rule"] == "released"]
    values = [(float(row["passed"]), round(float(row["disagreement"]), 9), row["flag"]) for row in rows]
    assert values == [(0.6, 0.4, "review"), *[(1, 0, "")] * 5] and {row["verdicts"] for row in rows} == {"10"}
    (row,) = (row for row in project.rows(REPEATS) if row["rule"] == "released")
    assert (row["task"], row["n_items"], row["samples"]) == ("judge: explain", "6", "10")
    assert float(row["agreement"]) == pytest.approx((5 + (6 * 5 + 4 * 3) / 90) / 6)
    assert float(row["se_sampling"]) == pytest.approx((0.24 / 9) ** 0.5 / 6)
    assert float(project.rows("results/humorbench/leaderboard.csv")[0]["n"]) == 6  # by the first verdict
    assert project.audit("results/humorbench/leaderboard.csv")["verdict"] == "equal"
