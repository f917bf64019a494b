"""StripCipher's texts, from a model's drafts to reviewed items, against a real server."""

import hashlib
import json
import re

import pytest
from tests.servers.runs import KEY, Served

from punchline.rating.votes import Votes

from .conftest import add_served
from .project import Project

pytestmark = pytest.mark.long

CONFIG = "benchmarks=[stripcipher] models=[served] limit=8"
DRAW = ("rate", "new", "stripcipher", "--drafts", "served", "--raters", "2")
USES = ("answer", "distractor", "distractor", "distractor")


def review(project: Project, name: str, rater: str, answer: str) -> None:
    """Choose the first text of each page as the answer, in other words, and the next three as distractors."""
    votes = Votes(project.path / f"data/ratings/stripcipher/{name}.sqlite")
    for index in votes.seats(rater):
        texts = votes.sheet.units[index].texts
        assert len(texts) >= 4  # the server answers samples alike: raters write in empty boxes
        uses = {f"use-{n}": USES[n] if n < 4 else "" for n in range(len(texts))}
        words = {f"text-{n}": f"text {n}" if n else answer for n in range(len(texts))}
        votes.vote(rater, index, uses | words, "")


def test_drafts_are_reviewed_and_decided(fresh: Project, server: Served) -> None:
    project = add_served(fresh, server)
    server.script(key=KEY)
    assert "nothing is prepared yet" in project.punchline(*DRAW, fails=True)
    project.snakemake("prepare_all", config=CONFIG)
    assert "for stripcipher only" in project.punchline("rate", "new", "drafts", "--raters", "2", fails=True)
    assert "pages to review" in project.punchline(*DRAW)
    counts = server.get("/counts")
    project.punchline(*DRAW, "--name", "again")
    assert server.get("/counts") == counts  # journalled: not asked again

    for rater, answer in (("1", "An end"), ("2", "Another end")):
        review(project, "drafts", rater, answer)
    strips = project.path / "data/raw/demo/stripcipher/strips.json"
    export = ("--out", str(strips.relative_to(project.path)))
    assert "punchline rate new --decide stripcipher/drafts" in project.punchline("rate", "export", "drafts", *export)
    project.punchline("rate", "new", "--decide", "drafts")
    review(project, "drafts-decide", "3", "The end")
    project.punchline("rate", "export", "drafts-decide", *export)
    assert "pages to review" in project.punchline("rate", "new", "--verify", "drafts-decide", "--name", "check")
    texts = [strip["texts"] for strip in json.loads(strips.read_bytes())]
    assert all(one["prediction"]["answer"] == one["comprehension"]["answer"] == "The end" for one in texts)

    output = project.punchline("rate", "new", "stripcipher/people", "--raters", "1", "--items", "2")
    assert re.search(r"people.sqlite: \d+ pages to rate", output), output

    # The project's own manifest gets the digest of the written file.
    folder = project.path / "data/manifests/stripcipher"
    (folder / "strips.json").write_bytes(strips.read_bytes())
    project.punchline("rate", "export", "drafts-decide")
    digest = hashlib.sha256((folder / "strips.json").read_bytes()).hexdigest()
    assert digest in (folder / "annotations.csv").read_text()
