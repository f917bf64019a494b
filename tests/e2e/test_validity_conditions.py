"""Derived conditions through the real Snakefile, asked of a server, against sums over the server's answers."""

import json
import re

import pytest
from tests.servers.scripted import Call, completion, scripted

from .project import Project

CONFIG = "benchmarks=[yesbut] models=[longest,first,random] scorers=null conditions=[no-image,options-only,circular]"
FILES = ("results/yesbut/picture_gain.csv", "results/yesbut/option_order.csv")


def reply(call: Call) -> None:
    """`first` answers A; `longest` the letter of the longest option, where it sees a picture, else A.

    Of equally long ones it takes the text that is last in the alphabet.
    """
    body = json.loads(call.body)
    content = body["messages"][0]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    options = re.findall(r"^([A-D])\. (.+?) *$", "".join(part.get("text", "") for part in parts), re.MULTILINE)
    sees = any(part["type"] == "image_url" for part in parts) and body["model"] == "longest"
    call.json(completion(max((len(text), text, letter) for letter, text in options)[2] if options and sees else "A"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    result = Project.copy(tmp_path_factory.mktemp("variants") / "p")
    with scripted(reply) as server:
        for name in ("longest", "first"):
            result.add_served(name, server.url, "concurrency: 8\n", id=name)
        result.snakemake(*FILES, config=CONFIG)
        calls = len(server.calls)
        assert result.to_run(*FILES, config=CONFIG) == set()
        result.snakemake(*FILES, "--forcerun", "respond", config=CONFIG)
        assert len(server.calls) == calls  # each is asked once
    return result


@pytest.mark.parametrize("kind", ["moral_mcq", "title_mcq"])
def test_values_are_those_of_the_answers(project: Project, kind: str) -> None:
    """`first` needs no picture and one position; `longest` has no position and needs the picture."""
    gains, orders = (project.rows(file) for file in FILES)
    for rule in ("paper", "released"):
        own = {(r["model"], r["condition"]): r for r in gains if (r["task"], r["rule"]) == (f"{kind}_2", rule)}
        first, longest = ({c: own[m, c] for c in ("no-image", "options-only")} for m in ("first", "longest"))
        for condition, row in longest.items():
            assert {first[condition][name] for name in ("with_image", "without")} == {row["without"]}
            gain = float(row["with_image"]) - float(row["without"])
            assert row["n"] == "8" and float(row["gain_lo"]) < gain == float(row["gain"]) < float(row["gain_hi"])
            assert float(row["leakage"]) == max(0.0, float(row["without"]) - float(row["chance"]))
        by = {r["model"]: r for r in orders if (r["task"], r["rule"]) == (f"{kind}_2", rule)}
        right = float(longest["no-image"]["with_image"])
        result = [float(by["longest"][name]) for name in ("accuracy", "accuracy_all", "share_A", "share_D", "p")]
        assert result == pytest.approx([right, right, 0.25, 0.25, 1.0])
        result = [float(by["first"][name]) for name in ("accuracy", "accuracy_all", "share_A", "share_D")]
        assert result == pytest.approx([0.25, 0.0, 1.0, 0.0]) and float(by["first"]["p"]) < 1e-9


def test_the_tables_read_the_default_condition_only(project: Project) -> None:
    states = {row["condition"] for row in project.rows("results/yesbut/unread.csv")}
    assert states == {"default", "no-image", "options-only", "circular-1", "circular-2", "circular-3"}
    page = {row["model"]: row for row in project.rows("results/yesbut/table2.csv") if row["kind"] != "published"}
    gains = {row["model"]: row["with_image"] for row in project.rows(FILES[0]) if row["task"] == "title_mcq_2"}
    assert float(page["first"]["title_acc"]) == pytest.approx(100 * float(gains["first"]))


@pytest.mark.parametrize("file", FILES)
def test_the_files_are_audited(project: Project, file: str) -> None:
    assert project.audit(file)["verdict"] == "equal"
    path = project.path / file
    content = path.read_text()
    path.write_text(content.replace(",paper,", ",released,", 1))
    report = project.audit(file)
    path.write_text(content)
    assert report["verdict"] == "differs" and report["findings"]


def test_humorbench_with_its_cartoons(fresh: Project) -> None:
    """Elements whose cartoon cannot be had are missing, and no row compares them."""
    project = fresh
    explained, saw = {True: "A snail carries its house, so renting one makes no sense", False: "No idea."}, []

    def explain(call: Call) -> None:
        saw.append(b"image_url" in call.body)
        call.json(completion(explained[saw[-1]]))

    with scripted(explain) as server:
        project.add_served("seer", server.url)
        config = "benchmarks=[humorbench] models=[seer] judge=overlap conditions=[with-image]"
        output = project.snakemake("all", config=config)
    drawn = len(list((project.path / "data/demo/humorbench/images").glob("*.png")))
    assert sum(saw) == drawn == 4
    for row in project.rows("results/humorbench/picture_gain.csv"):
        result = [row[name] for name in ("condition", "n", "with_image", "without", "gain_lo")]
        assert result == ["with-image", "4", "0.25", "0.0", ""]
    assert "seer: 24 answered, 16 missing" in output
