"""HumorBench: reading of answers and verdicts, items and gold, what a judge is asked, and scores in every state."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.cases import cases
from tests.records import refused, response, text_of
from tests.tabulated import score_responses

from punchline.benchmarks import humorbench
from punchline.benchmarks.humorbench import ANNOTATIONS, CATEGORIES, judge_requests, score_item
from punchline.benchmarks.humorbench.answers import explained, explanation, judged_text, parse_verdict
from punchline.benchmarks.humorbench.judge import judge_request
from punchline.core.benchmark import Verdict
from punchline.errors import PunchlineError
from punchline.files import csv_text
from punchline.schema import RULES, Gold, Item, Response, Rule, Score, State, Usage

COLUMNS = ("idx", "cartoonstock_id", "contest_number", "description", "caption", "element")


def corpus(rows: list[dict[str, Any]], flags: Mapping[str, list[tuple[str, str]]] | None = None) -> dict[str, bytes]:
    """Raw files of rows of the annotations; a category is False unless `flags` has its file's (idx, cell)s."""
    full = [
        {"idx": n, "description": "A scene.", "caption": f"Caption {n}", "element": f"e{n}"} | row
        for n, row in enumerate(rows, 1)
    ]
    files = {ANNOTATIONS: csv_text(COLUMNS, full).encode()}
    for category, (name, column) in CATEGORIES.items():
        cells = (flags or {}).get(category, [(str(row["idx"]), "False") for row in full])
        files[name] = csv_text(("idx", column), [{"idx": i, column: c} for i, c in cells]).encode()
    return files


@pytest.mark.parametrize(("answer", "released", "paper"), cases(__file__, "thoughts"))
def test_thoughts_and_the_prompts_own_words_are_no_explanation(answer: str, released: str, paper: str | None) -> None:
    assert (explained(answer, "released"), explained(answer, "paper")) == (released, paper)
    assert judged_text(answer, "paper") == (paper or "")
    requests = {request.request_id for request in judge_requests(ITEM, GOLD, {"explain": answered(answer)})}
    assert len(requests) == (1 if paper in (None, released) else 2)
    result = score_of(answered(answer), answered(PASS))
    assert (result.state, result.metrics["passed"]) == (("unparsable", 0.0) if paper is None else ("ok", 1.0))
    assert result.scored and (result.judge is None) == (paper is None)
    assert score_of(answered(answer), answered(PASS), "released").metrics["passed"] == 1.0
    assert score_of(answered(answer), "nobody").scored is False


@pytest.mark.parametrize(
    "piece",
    [
        *("<reasoning>", "</reasoning>", "<reasoning></reasoning>", "<explanation>", "</explanation>"),
        *("<judgement>", "<judgement></judgement>", "<", "</", " ", "\r\n", "\x00", "🦤"),
    ],
)
def test_a_megabyte_of_anything_is_read(piece: str) -> None:
    hostile = piece * (1_000_000 // len(piece))
    assert len(explanation(hostile)) <= len(hostile) and parse_verdict(hostile) is None
    assert parse_verdict(f"<judgement>FAIL</judgement>{hostile}") == "FAIL"
    assert explanation(f"<explanation>a</explanation>{hostile}") == "a"


@pytest.mark.parametrize(("rows", "flags", "expected"), refused("humorbench gold"))
def test_bad_gold(rows: list[dict[str, Any]], flags: Any, expected: str) -> None:
    with pytest.raises(PunchlineError, match=expected):
        list(humorbench.golds(corpus(rows, flags)))
    with pytest.raises(PunchlineError, match="element"):
        humorbench.listing({ANNOTATIONS: corpus([{}])[ANNOTATIONS].replace(b"element", b"point")})


FIELDS = {"description": "{caption} in a bar.", "caption": "Why {element}?", "idx": "4"}
ITEM = Item(benchmark="humorbench", item_id="3", source="newyorker", cluster=FIELDS["caption"], fields=FIELDS)
GOLD = Gold(benchmark="humorbench", item_id="3", values={"element": "A {caption} pun"})


def answered(text: str | None = None, state: State = "ok", request_id: str = "r", **usage: int) -> Response:
    return response(request_id, text, state, usage=Usage(**usage))


@pytest.mark.parametrize(
    ("text", "paper"),
    [
        ("", ""),
        ("first " + "word " * 499 + "end", "first " + "word " * 499 + "end"),  # a script beside the runs cuts at 500
        ("word " * 1300 + "end", "word " * 999 + "end"),
        ("word " * 2000 + "<explanation>short</explanation>", "short"),
    ],
)
def test_rule_paper_asks_about_the_last_1000_tokens(text: str, paper: str) -> None:
    """Rule `released` about all; what both show is asked once."""
    requests = {request.request_id for request in judge_requests(ITEM, GOLD, {"explain": answered(text)})}
    by_rule = {rule: judge_request(ITEM, GOLD, answered(text), rule) for rule in RULES}
    page = {rule: text_of(r).split("Student's answer: ")[1].split("\nAnticipated")[0] for rule, r in by_rule.items()}
    assert page == {"released": explanation(text), "paper": paper}
    assert len(requests) == len(set(page.values())) and requests == {r.request_id for r in by_rule.values()}


LONG = "early " * 600 + "late " * 900  # over 1000 tokens


def score_of(explain: Response | None, verdict: Any, rule: Rule = "paper") -> Score:
    """The score of one explanation; `verdict` "nobody": no judge was asked."""
    responses = {} if explain is None else {"explain": explain}
    judge = None if verdict == "nobody" else lambda _: verdict and Verdict("gpt-4o", verdict)
    (result,) = score_responses(humorbench, responses, ITEM, GOLD, judge, rules=[rule])
    assert (result.rule, result.gold_digest, result.item_id) == (rule, GOLD.digest, "3")
    assert (result.gold, result.cluster) == (None, ITEM.cluster)
    return result


PASS, FAIL = "<judgement>PASS</judgement>", "<judgement>FAIL</judgement>"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("explain", "verdict", "state", "scored", "passed"),
    [
        (answered("a"), answered(PASS), "ok", True, 1.0),
        (answered("a"), answered(FAIL), "ok", True, 0.0),
        (answered(""), answered(FAIL), "ok", True, 0.0),
        (answered("a"), answered("PASS or FAIL"), "unparsable", False, None),
        *((answered("a"), answered(None, state), state, False, None) for state in ("missing", "failed", "refused")),
        (answered("a"), None, "missing", False, None),
        (answered("a"), "nobody", "missing", False, None),
        *((answered(None, state), None, state, False, None) for state in ("missing", "failed")),
        (answered(None, "refused"), None, "refused", True, 0.0),  # nobody judges it, and it is wrong
        *((answered(None, state), "nobody", state, False, None) for state in ("refused", "failed")),
        (None, None, "missing", False, None),
        (None, "nobody", "missing", False, None),
    ],
)
def test_states(explain: Any, verdict: Any, state: State, scored: bool, passed: float | None, rule: Rule) -> None:
    result = score_of(explain, verdict, rule)
    assert (result.state, result.scored, result.metrics.get("passed")) == (state, scored, passed)
    judged = isinstance(verdict, Response) and explain is not None and explain.state == "ok"
    assert result.judge == ("gpt-4o" if judged else None)
    assert result.signature.endswith(f"|judge:{'gpt-4o' if judged else 'none'}|v:{1 if rule == 'released' else 3}")
    read = [r.digest for r in (explain, verdict if judged else None) if isinstance(r, Response)]
    assert list(result.responses) == read


def test_each_rule_reads_the_verdict_on_what_it_showed() -> None:
    requests = {rule: judge_request(ITEM, GOLD, answered(LONG), rule).request_id for rule in RULES}
    verdicts = {requests["released"]: Verdict("j", answered(FAIL)), requests["paper"]: Verdict("j", answered(PASS))}
    for rule, passed, state in (("released", 0.0, "missing"), ("paper", 1.0, "ok")):
        for known, expected in ((verdicts, "ok"), ({requests["paper"]: verdicts[requests["paper"]]}, state)):
            (result,) = score_item({"explain": answered(LONG)}, ITEM, GOLD, "m", rule, known)
            assert result.state == expected and result.metrics.get("passed", passed) == passed
