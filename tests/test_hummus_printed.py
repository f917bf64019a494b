"""Hummus: pairs that the paper prints, domains of images and captions, printed values."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.records import read_golds, response, texts_of
from tests.test_hummus import ANNOTATED, Files, demo

from punchline.benchmarks import hummus
from punchline.benchmarks.hummus.compared import data_requests
from punchline.benchmarks.hummus.dataset import domain_rows, pair_rows
from punchline.core.benchmark import Verdict
from punchline.tables.render import read_published

__all__ = ["demo"]


@pytest.mark.parametrize(("scorer", "columns"), [("labse", {"cosine", "cosine_cased"}), ("minilm", {"cosine_minilm"})])
def test_printed_pairs_are_compared(demo: Files, root: Path, scorer: str, columns: set[str]) -> None:
    """In lower case, and as they are printed."""
    printed = [row for row in read_published(root / "config/published/hummus.csv") if row["table"] == "table9"]
    requests = [request for request in data_requests(demo, printed) if request.item_id == "table9"]
    assert len(requests) == 2 * len(printed) == 20
    assert sorted(texts_of(requests[0])) == ["gun", "pistol"] and sorted(texts_of(requests[1])) == ["Gun", "Pistol"]
    verdicts = {one.request_id: Verdict(scorer, response(one, str(at / 100))) for at, one in enumerate(requests)}
    rows = list(pair_rows(demo, printed, verdicts))
    assert rows[0].keys == {"output": "Gun", "reference": "Pistol"}
    values = [{name: found.point() for name, found in row.estimates.items()} for row in rows]
    assert all(set(one) == columns for one in values) and {row.model for row in rows} == {scorer}
    assert values[3] == ({"cosine": 0.06, "cosine_cased": 0.07} if scorer == "labse" else {"cosine_minilm": 0.06})
    failed = {one.request_id: Verdict(scorer, response(one, None, "failed")) for one in requests}
    assert not list(pair_rows(demo, printed, {})) and not list(pair_rows(demo, printed, failed))


def test_domains_of_image_and_caption(demo: Files) -> None:
    """By the nearest term: of the target domain, of the source, or neither where both are as near."""
    golds, requests = read_golds(hummus, demo), data_requests(demo, [])

    def shares(nearest: str, without: str = "") -> list[tuple[int, float | None]]:
        verdicts = {}
        for one in (one for one in requests if one.item_id != without):
            pairs = [re.split(" (?:is|are|has|have) ", m.lower()) for m in golds[one.item_id].values["metaphors"]]
            near = nearest != "neither" and texts_of(one)[1] in [pair[nearest == "source"] for pair in pairs]
            verdicts[one.request_id] = Verdict("minilm", response(one, "0.9" if near else "0.1"))
        rows = list(domain_rows(demo, [], verdicts))
        assert [row.keys["statistic"] for row in rows] == ["image_in_target_domain", "caption_in_source_domain"]
        return [(row.estimates["value_minilm"].n, row.estimates["value_minilm"].point()) for row in rows]

    assert shares("neither") == [(7, 0), (7, 0)]
    most = pytest.approx(100 * 6 / 7)  # one pair's metaphor is annotated both ways: each term is in both domains
    assert (shares("target"), shares("source")) == ([(7, most), (7, 0)], [(7, 0), (7, most)])
    assert shares("neither", without=ANNOTATED) == [(6, 0), (6, 0)]  # not compared
    assert list(domain_rows(demo, [], {})) == []


def test_published_as_printed(root: Path, paper: Callable[[str], str]) -> None:
    lines = paper("hummus").splitlines()
    printed: dict[tuple[str, str], list[str]] = {}
    for row in read_published(root / "config" / "published" / "hummus.csv"):
        table_of_numbers = row["table"] in ("table2", "table3", "table4", "table5")
        if table_of_numbers and not row["column"].endswith("success") and row["column"] != "prompts":
            printed.setdefault((row["table"], row["row"]), []).append(row["value"])
    assert len(printed) == 10 + 9 + 3 + 10
    for (name, row), values in printed.items():
        end = next(i for i, line in enumerate(lines) if line.startswith(f"T{name[1:-1]} {name[-1]}:"))
        (line,) = [line for line in lines[end - 13 : end] if re.match(re.escape(row) + r" \d", line)]
        assert re.findall(r"\d\.\d\d", line.removeprefix(row)) == values, (name, row)
