"""One item, one state: a server that fails, filters and cuts off now and then, through the real graph."""

import re
from pathlib import Path

from tests.servers.scripted import Call, completion, scripted

from .project import Project

COMICS = 6
CONFIG = f"models=[served] limit={COMICS}"
ORDER, TEXTS = b"In what order should the panels be read", b"what are the text inside"
TABLES = ("results/table8.csv", *(f"results/pixelhumor/table{n}.csv" for n in (2, 14, 15)), "results/cost.csv")


def answer(comics: dict[bytes, int], call: Call) -> None:
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


def test_n_and_states_add_up_to_the_items(tmp_path: Path) -> None:
    project, comics = Project.copy(tmp_path / "p"), dict[bytes, int]()
    with scripted(lambda call: answer(comics, call)) as server:
        card = f"engine: openai\nid: m\nbase_url: {server.url}/v1\nattempts: 1\nbreaker: 0\nconcurrency: 1\n"
        (project.path / "config/model/served.yaml").write_text(card)
        for rule in ("released", "paper"):
            project.snakemake(*TABLES, config=f"{CONFIG} scoring={rule}")
            row = next(row for row in project.rows(TABLES[0]) if row["model"] == "served")
            states = [row[f"n_{name}"] for name in ("missing", "failed", "refused", "truncated")]
            assert (row["n"], *states) == (str(COMICS - 2), "0", "2", "1", "1")
            assert "panel_acc n=5" in row["note"]
            for table in TABLES[:-1]:
                for row in (row for row in project.rows(table) if row["kind"] == "measured" and row["n"] != "0"):
                    counts = {name: int(row[f"n_{name}"]) for name in ("missing", "failed", "refused", "unparsable")}
                    every = int(row["n"]) + counts["missing"] + counts["failed"]
                    assert every <= COMICS and sum(counts.values()) <= COMICS, (table, row)
                    if row["subset"] == "all" and len({"panels", "style", "subtask"} & set(row)) == 0:
                        assert every == COMICS, (table, row)
            notes = (project.path / TABLES[0]).with_suffix(".md").read_text()
            assert re.search(r"- served: answers on 1 of \d items \(subset=[a-z-]+\) were cut off", notes)
            assert re.search(r"- INCOMPLETE: served: answers on 2 of \d items \(subset=[a-z-]+\) failed", notes)
        (cost,) = (row for row in project.rows(TABLES[-1]) if row["model"] == "served")
        assert (cost["requests"], cost["failed"], cost["refused"], cost["truncated"]) == ("48", "2", "1", "1")
        assert project.audit(TABLES[0])["verdict"] == "equal"
