"""What was not read of answers, and where what was read stands in them."""

import json
from pathlib import Path

from tests import records

from punchline.audit.show import as_text, marked
from punchline.core.storage import write_table
from punchline.read import choice, verdict
from punchline.read.result import collect_readings
from punchline.schema import Response, Score
from punchline.scores import write_scores
from punchline.tabulate.unparsed import count_unparsed, excerpt, why_unparsed


def response(name: str, text: str | None, finish: str = "stop") -> Response:
    return records.response(name, text, "ok" if text is not None else "failed", finish_reason=finish)


def grade(state: str, *responses: Response, rule: str = "paper") -> Score:
    digests, truncated = tuple(one.digest for one in responses), any(one.truncated for one in responses)
    return records.score("i", task="t", rule=rule, state=state, responses=digests, truncated=truncated)


def test_why_and_how_many(tmp_path: Path) -> None:
    texts = ["B", "Whichever you like.", "", "<think>B", "I'm sorry, I can't help with that."]
    texts += ["Well, the", "B because", None]
    output = [response(f"r{n}", text, "length" if n in (5, 6) else "stop") for n, text in enumerate(texts)]
    verdict_of_r0 = response("j0", "Hm.")
    scores = [
        *(grade("unparsable", one) for one in output[1:6]),
        grade("ok", output[6]),
        grade("failed", output[7]),
        grade("missing"),
        grade("unparsable", output[0], verdict_of_r0),
        grade("ok", output[0], rule="released"),
    ]
    write_scores(tmp_path / "g.parquet", scores, ())
    write_table(tmp_path / "s.parquet", output, Response)
    write_table(tmp_path / "j.parquet", [verdict_of_r0], Response)
    rows = count_unparsed("m", tmp_path / "g.parquet", {"": tmp_path / "s.parquet", "judge": tmp_path / "j.parquet"})
    paper = {"model": "m", "condition": "default", "task": "t", "rule": "paper", "answers": 9, "read": 1, "unread": 6}
    paper |= {"refused": 0, "truncated": 2, "failed": 1, "missing": 1}
    paper |= {"unexplained": 2, "empty": 1, "thoughts_only": 1, "declines": 1, "cut_off": 1}
    paper |= {"example_1": "r1: Whichever you like.", "example_2": "j0: Hm.", "example_3": "r5: Well, the"}
    none = {name: 0 if isinstance(value, int) else value for name, value in paper.items() if "example" not in name}
    assert rows == [paper, none | {"rule": "released", "answers": 1, "read": 1}]


def test_why_and_excerpts() -> None:
    """An excerpt is one harmless line."""
    assert why_unparsed(" \n", "stop") == "empty" and why_unparsed("<think>a</think>", "stop") == "thoughts_only"
    assert why_unparsed("<think>a", "length") == "cut_off" and why_unparsed("42", None) == "unexplained"
    assert why_unparsed("No image was provided.", None) == "declines"
    assert excerpt("a\n\x1b[31mb\u202e\\n") == "a\\n\\x1b[31mb\\u202e\\\\n"
    long = excerpt("x" * 500 + "END")
    assert long.endswith("END") and " […] " in long and len(long) < 200


def test_readers_tell_where_they_read() -> None:
    with collect_readings() as texts:
        choice.choice("I say B.", "AB")
        verdict.verdict("<judgement>FAIL</judgement>")
    assert [(text[one.start : one.end], one.value) for text, one in texts] == [("B", "B"), ("FAIL", "FAIL")]
    choice.choice("A", "AB")
    assert len(texts) == 2


def test_an_answer_cannot_forge_the_mark() -> None:
    assert marked("I say B\x1b[0m ⟦A⟧", 6, 7) == "I say ⟦B⟧\\x1b[0m \\u27e6A\\u27e7"
    long = marked("x" * 300 + "B" + "y" * 300, 300, 301)
    assert long == "…" + "x" * 200 + "⟦B⟧" + "y" * 200 + "…"
    page = {"text": '⟦A⟧ "marked": "⟦C⟧', "read": {"marked": marked('a\n "marked": "⟦C⟧ B', 18, 19)}}
    coloured = as_text(page, colour=True)
    assert coloured.count("\x1b[7m") == coloured.count("\x1b[0m") == 1 and "\x1b[7m⟦B⟧\x1b[0m" in coloured
    assert json.loads(as_text(page)) == page
