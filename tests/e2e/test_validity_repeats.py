"""Ten verdicts on each answer, by a server whose verdicts differ on some; several answers of a model."""

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.servers.scripted import Call, completion, scripted

from .project import Project

CONFIG = "benchmarks=[humorbench] models=[echo] judge=ten limit=6"
REPEATS, VERDICTS = "results/humorbench/repeats.csv", "results/humorbench/verdicts.csv"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Counter[str]]:
    """A judge that passes the first answer 6 times of 10, and all others always; verdicts by prompt."""
    given: Counter[str] = Counter()

    def reply(call: Call) -> None:
        prompt = json.dumps(json.loads(call.body)["messages"])
        given[prompt] += 1
        passed = prompt != next(iter(given)) or given[prompt] <= 6
        call.json(completion(f"<judgement>{'PASS' if passed else 'FAIL'}</judgement>"))

    result = Project.copy(tmp_path_factory.mktemp("verdicts") / "p")
    with scripted(reply) as server:
        card = f"engine: openai\nid: j\nbase_url: {server.url}/v1\nconcurrency: 1\nsamples: 10\n"
        Path(result.path, "config/judge/ten.yaml").write_text(card)
        result.snakemake(REPEATS, VERDICTS, config=CONFIG)
        assert result.to_run(REPEATS, VERDICTS, config=CONFIG) == set()
    return result, given


def test_elements_whose_verdicts_differ_come_first(judged: tuple[Project, Counter[str]]) -> None:
    project, given = judged
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


def test_a_model_that_is_asked_several_times(judged: tuple[Project, Counter[str]]) -> None:
    config = "run=thrice benchmarks=[yesbut] models=[random] scorers=null samples=3"
    judged[0].snakemake("results/runs/thrice/yesbut/repeats.csv", config=config)
    rows = judged[0].rows("results/runs/thrice/yesbut/repeats.csv")
    assert {row["samples"] for row in rows} == {"3"} and {row["rule"] for row in rows} == {"paper", "released"}
    assert all(0 < float(row["agreement"]) < 1 and float(row["se_sampling"]) > 0 for row in rows)
