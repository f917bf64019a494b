"""Scripted servers through the real graph: states, a cap on money, an extractor, many verdicts, derived conditions."""

import json
import re
from collections import Counter

import pandas as pd
import pytest
from tests.servers.scripted import Call, completion, scripted

from .project import Project

COMICS = 6
ORDER, TEXTS = b"In what order should the panels be read", b"what are the text inside"
TABLES = ("results/table8.csv", *(f"results/pixelhumor/table{n}.csv" for n in (2, 14, 15)), "results/cost.csv")
LEADERBOARD = "results/humorbench/leaderboard.csv"


def in_many_states(comics: dict[bytes, int], call: Call) -> None:
    """Question 7 of comic 0 fails, as does question 8 of comic 1; question 7 of comic 2 is filtered, that of comic 3
    cut off in the middle of a thought; all else is prose. Comics are numbered as they come, one call at a time."""
    picture = call.body.partition(b"base64,")[2].partition(b'"')[0]
    comic, order = comics.setdefault(picture, len(comics)), ORDER in call.body
    if (comic == 0 and order) or (comic == 1 and TEXTS in call.body):
        call.json({"error": {"message": "out of order"}}, 500)
    elif comic == 2 and order:
        call.json(completion(None, choices=[{"message": {"content": None}, "finish_reason": "content_filter"}]))
    elif comic == 3 and order:
        cut = {"message": {"content": "<think>Panel 1 is"}, "finish_reason": "MAX_TOKENS"}
        call.json(completion("", choices=[cut]))
    else:
        call.json(completion("1, 2" if order else "1: hello"))


def test_n_and_states_add_up_to_the_items(fresh: Project) -> None:
    project, comics = fresh, dict[bytes, int]()
    with scripted(lambda call: in_many_states(comics, call)) as server:
        project.add_served("served", server.url, "attempts: 1\nbreaker: 0\nconcurrency: 1\n")
        for rule in ("released", "paper"):
            project.snakemake(*TABLES, config=f"models=[served] limit={COMICS} scoring={rule}")
            row = project.rows(TABLES[0], model="served")[0]
            states = [row[f"n_{name}"] for name in ("missing", "failed", "refused", "truncated")]
            assert (row["n"], *states) == (str(COMICS - 2), "0", "2", "1", "1")
            assert "panel_acc n=5" in row["note"]
            for table in TABLES[:-1]:
                for row in (row for row in project.rows(table, kind="measured") if row["n"] != "0"):
                    counts = {name: int(row[f"n_{name}"]) for name in ("missing", "failed", "refused", "unparsable")}
                    every = int(row["n"]) + counts["missing"] + counts["failed"]
                    assert every <= COMICS and sum(counts.values()) <= COMICS, (table, row)
                    if row["subset"] == "all" and len({"panels", "style", "subtask"} & set(row)) == 0:
                        assert every == COMICS, (table, row)
            notes = (project.path / TABLES[0]).with_suffix(".md").read_text()
            assert re.search(r"- served: answers on 1 of \d items \(subset=[a-z-]+\) were cut off", notes)
            assert re.search(r"- INCOMPLETE: served: answers on 2 of \d items \(subset=[a-z-]+\) failed", notes)
        (cost,) = project.rows(TABLES[-1], model="served")
        assert (cost["requests"], cost["failed"], cost["refused"], cost["truncated"]) == ("48", "2", "1", "1")
        assert project.audit(TABLES[0])["verdict"] == "equal"


CARD = "concurrency: 4\nmodality: [text]\nsampling: {max_tokens: 250000}\n"
COST = 0.5  # USD of a reply: 100,000 tokens in, 200,000 out
PRICE = "price: {input: 1, output: 2, date: 2026-01-01, source: made up for this test}\n"


def test_asking_stops_before_the_cap_and_goes_on_from_there(fresh: Project) -> None:
    project, requests = fresh, Counter[str]()  # requests by model
    config = "benchmarks=[humorbench] models=[served,other] limit=8"

    def answer(call: Call) -> None:
        requests[json.loads(call.body)["model"]] += 1
        usage = {"prompt_tokens": 100_000, "completion_tokens": 200_000, "total_tokens": 300_000}
        call.json(completion("<explanation>A pun.</explanation>", usage=usage))

    with scripted(answer) as server:
        for name in ("served", "other"):
            project.add_served(name, server.url, CARD, id=name)
        output = project.snakemake(LEADERBOARD, config=f"{config} max_cost=5", fails=True)
        assert "max_cost cannot be kept: the card has no price" in output and not requests
        for name in ("served", "other"):
            project.add_served(name, server.url, CARD + PRICE, id=name)
        output = project.snakemake(LEADERBOARD, config=f"{config} max_cost=2.6", fails=True)
        assert 1 < requests.total() * COST <= 2.6
        last = output.strip().splitlines()[-1]
        assert "max_cost=2.6 is reached" in output and "are not sent" in output, output
        assert "Run the same command again" in last, last
        before = requests.total()
        project.snakemake(LEADERBOARD, config=f"{config} max_cost=20")
        assert before < requests.total() == 16, "two models, eight elements: nothing is asked twice"
        assert project.wanted(LEADERBOARD, config=config) == set(), "a cap is no part of the selection"


VAGUE = "Two of these could be it, and the second of my favourites wins, all things considered."


def vague(calls: list[str], call: Call) -> None:
    """The model is vague; the extractor reads a letter from that, or says NONE of answers that ask for it."""
    text = json.dumps(json.loads(call.body)["messages"])
    if "<answer>" not in text:
        call.json(completion(VAGUE))
        return
    calls.append(text)
    call.json(completion("NONE" if "correct sequence" in text.lower() else "Answer: B"))


def scores(project: Project) -> pd.DataFrame:
    return pd.read_parquet(project.path / "results/stripcipher/scores/served.parquet")


def test_an_extractor_reads_what_rule_paper_cannot(fresh: Project) -> None:
    project, calls, table = fresh, list[str](), "results/stripcipher/table4.csv"
    config = "benchmarks=[stripcipher] models=[served] scorers=none limit=3"
    with scripted(lambda call: vague(calls, call)) as server:
        project.add_served("served", server.url, "concurrency: 1\n")
        project.snakemake(table, config=config)
        before = scores(project)
        assert "n_extracted" not in project.rows(table)[0] and not calls
        project.snakemake(table, config=f"{config} extractor=served")
        after = scores(project)
        requests = before[(before.rule == "paper") & (before.state == "unparsable")]
        assert len(calls) == len(requests) > 0 and all(VAGUE in call and "image_url" not in call for call in calls)
        released = [frame[frame.rule == "released"].reset_index(drop=True) for frame in (before, after)]
        pd.testing.assert_frame_equal(*released)
        read = after[after.signature.str.contains("|extractor:served|", regex=False)]
        assert set(read.state) == {"ok"} and set(read.parsed) == {'["B"]'} and all(len(r) == 2 for r in read.responses)
        assert int(project.rows(table, model="served", scoring="paper")[0]["n_extracted"]) > 0
        report = project.audit(table)
        journals = [f"data/responses/stripcipher/{path}served.jsonl" for path in ("", "extractor/")]
        assert report["verdict"] == "equal"
        assert sorted(report["recorded"]) == sorted(f"{path}: answers of the engine openai" for path in journals)
        asked_before = len(server.calls)
        assert project.wanted(table, config=f"{config} extractor=served") == set()
        project.snakemake(table, config=config)
        pd.testing.assert_frame_equal(scores(project), before)
        assert len(server.calls) == asked_before


def test_elements_whose_verdicts_differ_come_first(fresh: Project) -> None:
    """The judge passes the first answer 6 times of 10, and all others always."""
    project, given = fresh, Counter[str]()
    config = "benchmarks=[humorbench] models=[echo] judge=ten limit=6"
    repeats, verdicts = "results/humorbench/repeats.csv", "results/humorbench/verdicts.csv"

    def reply(call: Call) -> None:
        prompt = json.dumps(json.loads(call.body)["messages"])
        given[prompt] += 1
        passed = prompt != next(iter(given)) or given[prompt] <= 6
        call.json(completion(f"<judgement>{'PASS' if passed else 'FAIL'}</judgement>"))

    with scripted(reply) as server:
        project.add_served("ten", server.url, "concurrency: 1\nsamples: 10\n", "judge")
        project.snakemake(repeats, verdicts, config=config)
        assert project.wanted(repeats, verdicts, config=config) == set()
    assert [*given.values()] == [10] * 6
    rows = project.rows(verdicts, rule="released")
    values = [(float(row["passed"]), round(float(row["disagreement"]), 9), row["flag"]) for row in rows]
    assert values == [(0.6, 0.4, "review"), *[(1, 0, "")] * 5] and {row["verdicts"] for row in rows} == {"10"}
    (row,) = project.rows(repeats, rule="released")
    assert (row["task"], row["n_items"], row["samples"]) == ("judge: explain", "6", "10")
    assert float(row["agreement"]) == pytest.approx((5 + (6 * 5 + 4 * 3) / 90) / 6)
    assert float(row["se_sampling"]) == pytest.approx((0.24 / 9) ** 0.5 / 6)
    assert float(project.rows(LEADERBOARD)[0]["n"]) == 6  # by the first verdict
    assert project.audit(LEADERBOARD)["verdict"] == "equal"


VARIANTS = "benchmarks=[yesbut] models=[longest,first,random] scorers=null conditions=[no-image,options-only,circular]"
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
        result.snakemake(*FILES, config=VARIANTS)
        calls = len(server.calls)
        assert result.wanted(*FILES, config=VARIANTS) == set()
        result.snakemake(*FILES, "--forcerun", "respond", config=VARIANTS)
        assert len(server.calls) == calls  # each is asked once
    return result


@pytest.mark.long
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


@pytest.mark.long
def test_the_tables_read_the_default_condition_only(project: Project) -> None:
    states = {row["condition"] for row in project.rows("results/yesbut/unread.csv")}
    assert states == {"default", "no-image", "options-only", "circular-1", "circular-2", "circular-3"}
    page = {row["model"]: row for row in project.rows("results/yesbut/table2.csv") if row["kind"] != "published"}
    gains = {row["model"]: row["with_image"] for row in project.rows(FILES[0]) if row["task"] == "title_mcq_2"}
    assert float(page["first"]["title_acc"]) == pytest.approx(100 * float(gains["first"]))


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
