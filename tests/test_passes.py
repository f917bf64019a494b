"""Later passes: who answers them; what an extractor is asked, and which scores its replies change."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.cases import cases
from tests.records import read_golds, read_items, response, text_of, texts_of

from punchline.artifacts.passes import passes_of, scorers_of
from punchline.benchmarks import pixelhumor
from punchline.config.cards import read_card
from punchline.core.benchmark import Benchmark, load
from punchline.core.engine import Engine
from punchline.errors import PunchlineError
from punchline.extraction import extraction_requests, read_replies
from punchline.schema import ModelCard, Request, Response
from punchline.score import score

ENGINE = cast(Engine, SimpleNamespace(format=None, givers=set))
CARD = ModelCard(name="m", engine="openai")


def benchmark(**parts: Any) -> Benchmark:
    return cast(Benchmark, SimpleNamespace(**{"NAME": "b", "CHAINED": (), "CLOSED": (), "JUDGES": (), **parts}))


@pytest.mark.parametrize(("parts", "selected", "expected"), cases(__file__, "hops"))
def test_hops(parts: dict[str, Any], selected: dict[str, Any], expected: dict[str, str]) -> None:
    chosen = {"extractor": None, "judge": None, "cosine": "labse", **selected}
    result = passes_of(benchmark(**parts), CARD, ENGINE, selected.get("conditions", ["default"]), chosen)
    assert list(result.items()) == list(expected.items())  # in the order in which they are answered


def test_scorers() -> None:
    cards = [read_card(name, "config/judge") for name in ("bertscore", "labse", "minilm", "overlap")]
    assert scorers_of(cards[:2]) == {"bertscore": "bertscore", "cosine": "labse"}
    with pytest.raises(PunchlineError, match="both labse and minilm measure cosine"):
        scorers_of(cards[1:3])
    with pytest.raises(PunchlineError, match="overlap is no scorer"):
        scorers_of(cards[3:])


VAGUE, SOUND = "I am not sure about that.", "Present, contribute"


def results(root: Path, texts: Mapping[str, str], replies: Mapping[str, str]) -> dict[str, tuple]:
    """{task: (state, parsed, named extractor, responses)} under rule `paper`; and the tasks asked about."""
    files = {path.name: path.read_bytes() for path in (root / "data/demo/pixelhumor").glob("*.csv")}
    items, golds = read_items(pixelhumor, files), read_golds(pixelhumor, files)
    requests = load("pixelhumor").requests(next(iter(items.values())))
    pairs = [(request, response(request, texts.get(request.task, VAGUE))) for request in requests]
    result = list(extraction_requests(load("pixelhumor"), items, golds, pairs))
    for one in result:
        assert all(text in text_of(one) for text in texts_of(next(r for r in requests if r.task == one.task)))
    output: list[tuple[Request, Response]] = [(one, response(one, replies.get(one.task, "NONE"))) for one in result]
    item = {requests[0].item_id: items[requests[0].item_id]}
    scores = score(load("pixelhumor"), "m", item, golds, pairs, None, read_replies("reader", output))
    of_paper = [one for one in scores if one.rule == "paper"]
    named = [(one.state, one.parsed, "|extractor:reader|" in one.signature, len(one.responses)) for one in of_paper]
    matches = dict(zip([one.task for one in of_paper], named, strict=True))
    return matches | {"asked": tuple(one.task for one in result)}


@pytest.mark.parametrize(
    "texts, replies, expected",
    [
        pytest.param({"Q1": "Yes", "Q7": "1, 2"}, {"Q2": "Absent"}, {"Q2": ("ok", ("Absent",), True, 2)}, id="read"),
        pytest.param({"Q1": "Yes"}, {"Q2": "no idea"}, {"Q2": ("unparsable", None, False, 1)}, id="unreadable reply"),
        pytest.param({"Q1": "Yes"}, {"Q2": " 'none'. "}, {"Q2": ("unparsable", None, False, 1)}, id="none"),
        pytest.param({"Q2": "Absent"}, {"Q2": SOUND}, {"Q2": ("ok", ("Absent",), False, 1)}, id="not asked"),
        pytest.param({}, {"Q1": "No"}, {"Q1": ("ok", ("No",), True, 2), "Q3": ("ok", ("NA",), False, 3)}, id="another"),
    ],
)
def test_replies_score_unparsable_answers(root: Path, texts: Any, replies: Any, expected: dict[str, tuple]) -> None:
    result = results(root, texts, replies)
    assert {task: result[task] for task in expected} == expected
    assert set(result["asked"]).isdisjoint({"Q6", "Q8", *texts})
