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


def grade(state: str, *responses: Response, rule: str = "paper") -> Score:
    digests, truncated = tuple(one.digest for one in responses), any(one.truncated for one in responses)
    return records.score("i", task="t", rule=rule, state=state, responses=digests, truncated=truncated)


def test_why_and_how_many(tmp_path: Path) -> None:
    read, odd, verdict = (records.response(*of) for of in (("r0", "B"), ("r1", "Whichever you like."), ("j0", "Hm.")))
    cut = records.response("r2", "Well, the", finish_reason="length")
    scores = [grade("unparsable", odd), grade("unparsable", cut), grade("unparsable", read, verdict), grade("missing")]
    write_scores(tmp_path / "g.parquet", [*scores, grade("ok", read), grade("ok", read, rule="released")], ())
    files = {"": tmp_path / "s.parquet", "judge": tmp_path / "j.parquet"}
    write_table(files[""], [read, odd, cut], Response)
    write_table(files["judge"], [verdict], Response)
    paper, released = count_unparsed("m", tmp_path / "g.parquet", files)
    about = {"model": "m", "condition": "default", "task": "t"}
    counts = dict.fromkeys(("answers", "read", "unread", "refused", "truncated", "failed", "missing", "extracted"), 0)
    counts |= {"answers": 5, "read": 1, "unread": 3, "truncated": 1, "missing": 1}
    counts |= {"unexplained": 2, "empty": 0, "thoughts_only": 0, "declines": 0, "cut_off": 1}
    examples = {"example_1": "r1: Whichever you like.", "example_2": "j0: Hm.", "example_3": "r2: Well, the"}
    assert paper == about | {"rule": "paper"} | counts | examples
    assert released == about | {"rule": "released"} | dict.fromkeys(counts, 0) | {"answers": 1, "read": 1}


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
    assert marked("I say B\x1b[0m ⟦A⟧", 6, 7) == "I say ⟦B⟧\x1b[0m [A]"
    assert marked("x" * 300 + "B" + "y" * 300, 300, 301) == "x" * 200 + "⟦B⟧" + "y" * 200
    page = {"text": '⟦A⟧ "marked": "⟦C⟧', "read": {"marked": marked('a\n "marked": "⟦C⟧ B', 18, 19)}}
    coloured = as_text(page, colour=True)
    assert coloured.count("\x1b[7m") == coloured.count("\x1b[0m") == 1 and "\x1b[7m⟦B⟧\x1b[0m" in coloured
    assert json.loads(as_text(page)) == page
