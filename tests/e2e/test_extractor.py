"""An extractor through the real graph: it is shown what rule `paper` cannot read, and changes nothing else."""

import json
from pathlib import Path

import pandas as pd
from tests.servers.scripted import Call, completion, scripted

from .project import Project

CONFIG = "benchmarks=[stripcipher] models=[served] scorers=none limit=3"
TABLE = "results/stripcipher/table4.csv"
VAGUE = "Two of these could be it, and the second of my favourites wins, all things considered."


def answer(calls: list[str], call: Call) -> None:
    """The model is vague; the extractor reads a letter from that, or says NONE of answers that ask for it."""
    text = json.dumps(json.loads(call.body)["messages"])
    if "<answer>" not in text:
        call.json(completion(VAGUE))
        return
    calls.append(text)
    call.json(completion("NONE" if "correct sequence" in text.lower() else "Answer: B"))


def scores(project: Project) -> pd.DataFrame:
    return pd.read_parquet(project.path / "results/stripcipher/scores/served.parquet")


def test_an_extractor_reads_what_rule_paper_cannot(tmp_path: Path) -> None:
    project, calls = Project.copy(tmp_path / "p"), list[str]()
    with scripted(lambda call: answer(calls, call)) as server:
        card = f"engine: openai\nid: m\nbase_url: {server.url}/v1\nconcurrency: 1\n"
        (project.path / "config/model/served.yaml").write_text(card)
        project.snakemake(TABLE, config=CONFIG)
        before = scores(project)
        assert "n_extracted" not in project.rows(TABLE)[0] and not calls
        project.snakemake(TABLE, config=f"{CONFIG} extractor=served")
        after = scores(project)
        requests = before[(before.rule == "paper") & (before.state == "unparsable")]
        assert len(calls) == len(requests) > 0 and all(VAGUE in call and "image_url" not in call for call in calls)
        released = [frame[frame.rule == "released"].reset_index(drop=True) for frame in (before, after)]
        pd.testing.assert_frame_equal(*released)
        read = after[after.signature.str.contains("|extractor:served|", regex=False)]
        assert set(read.state) == {"ok"} and set(read.parsed) == {'["B"]'} and all(len(r) == 2 for r in read.responses)
        row = next(row for row in project.rows(TABLE) if row["model"] == "served" and row["scoring"] == "paper")
        assert int(row["n_extracted"]) > 0
        assert project.audit(TABLE)["verdict"] == "equal"
        asked_before = len(server.calls)
        assert project.to_run(TABLE, config=f"{CONFIG} extractor=served") == set()
        project.snakemake(TABLE, config=CONFIG)
        pd.testing.assert_frame_equal(scores(project), before)
        assert len(server.calls) == asked_before


def test_an_unknown_extractor_and_a_scorer_are_refused(tmp_path: Path) -> None:
    project = Project.copy(tmp_path / "p")
    for name, output in (("nobody", "extractor"), ("minilm", "is no judge")):
        assert output in project.snakemake("-n", config=f"models=[random] extractor={name}", fails=True)
