"""YesBut: bad input, items and gold, what is asked in every condition, scores in every state, tables, replay."""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cases import cases
from tests.records import asked_in, read_golds, read_items, refused, response, text_of, texts_of
from tests.tabulated import Scored, score_responses, tabulate

from punchline.benchmarks import yesbut
from punchline.benchmarks.yesbut import ANNOTATIONS, LENT, TABLES, TASKS
from punchline.benchmarks.yesbut.options import options
from punchline.core.benchmark import Verdict
from punchline.errors import PunchlineError
from punchline.read.choice import choice
from punchline.schema import RULES, Gold, Image, Item, Request, Response, Rule, Score, State
from punchline.tables.render import read_published


def comic(number: int = 1, **fields: Any) -> dict[str, Any]:
    """A record of the annotations; A is right in both questions."""
    result: dict[str, Any] = {"image_file": f"{number:05d}.jpg", "bounding_box": []}
    result |= {"caption": f"Caption {number}.", "contradiction": f"Contradiction {number}."}
    result |= {"moral": "Right moral.", "neg_moral": ["Wrong one.", "Wrong two.", "Wrong three."]}
    result |= {"title": "Right", "neg_title": ["One", "Two", "Three"], "moral_mcq_answer": "A", "title_mcq_answer": "A"}
    result |= {"moral_mcq": "A. Right moral.\nB. Wrong one.\nC. Wrong two.\nD. Wrong three."}
    result |= {"title_mcq": "A. Right\nB. One\nC. Two\nD. Three"}
    return result | {"url": f"https://pbs.twimg.com/media/{number}?format=jpg&name=medium"} | fields


def corpus(*comics: Any, lent: Mapping[str, list[Any]] | None = None) -> dict[str, bytes]:
    files = {ANNOTATIONS: json.dumps(comics or [comic()]).encode()}
    return files | {name: json.dumps((lent or {}).get(name, [])).encode() for name in LENT.values()}


def items(files: dict[str, bytes]) -> list[Item]:
    return list(read_items(yesbut, files).values())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *((json.dumps([comic(**fields)]), said) for fields, said in refused("yesbut")),
        (json.dumps([comic()])[:200], "not JSON"),
        ("{}", "not JSON records: Expected `array`"),
        (json.dumps([comic(1), comic(1)]), "record 00001.jpg, field image_file: the record is there twice"),
    ],
)
def test_bad_annotations(content: str, message: str) -> None:
    for read in (yesbut.listing, yesbut.golds):
        with pytest.raises(PunchlineError, match=ANNOTATIONS) as error:
            list(read({ANNOTATIONS: content.encode()}))
        assert message in str(error.value)


@pytest.mark.parametrize(("name", "said"), cases(__file__, "lent"))
@pytest.mark.parametrize("file", [LENT["text_llava_7b"], LENT["text_llava_13b"]])
def test_a_description_that_is_lent_twice_or_to_no_comic(file: str, name: str, said: str) -> None:
    lent = {file: [{"image_file": one, "output": "x"} for one in ("00001.jpg", name)]}
    with pytest.raises(PunchlineError, match=f"{file}, record {name}, field image_file: {said}"):
        items(corpus(lent=lent))


def test_chained_requests() -> None:
    (item,) = items(corpus())
    requests = asked_in("default", yesbut.requests(item))
    texts = zip("123", ("<think>Yours?</think> Mine. ", "  ", None), ("ok", "ok", "failed"), strict=True)
    own = {f"description_{k}": response(requests[f"description_{k}"], text, state) for k, text, state in texts}
    chained = list(yesbut.chained_requests(item, {"default": own}))
    assert [r.task for r in chained] == ["contradiction_1", "moral_mcq_1", "title_mcq_1"]
    assert {r.condition for r in chained} == {"chained"}
    assert all("comic is: Mine.\n" in text_of(r) and isinstance(r.messages[0].content[0], Image) for r in chained)
    assert [*yesbut.chained_requests(item, {})] == []


Answers = tuple[dict[str, Response], Item, Gold]


def unit(text: str | None = None, state: State = "ok", **by_task: str) -> Answers:
    """One comic's answers in the default condition: `text` to all tasks, or those of `by_task`."""
    (item,), (gold,) = items(corpus()), yesbut.golds(corpus())
    output = by_task or dict.fromkeys(TASKS, text)
    return {task: response(task, one, state) for task, one in output.items()}, item, gold


def scored(answers: Answers, rule: Rule, verdict: Callable[[Request], Verdict] | None = None) -> dict[str, Score]:
    return {score.task: score for score in score_responses(yesbut, *answers, verdict, rules=[rule])}


def judged(answers: Answers) -> list[Request]:
    requests = yesbut.judge_requests(answers[1], answers[2], answers[0])
    return list({request.request_id: request for request in requests}.values())


def verdicts(rating: str, scorer: str, recall: str, state: State = "ok") -> Callable[[Request], Verdict]:
    """Verdicts of a judge that says `rating`, and of a scorer of texts that says `recall`."""
    return lambda request: (
        Verdict("gpt-3.5-turbo", response(request, rating, state))
        if request.task == "judge"
        else Verdict(scorer, response(request, recall, state))
    )


def test_what_judges_are_asked() -> None:
    """About descriptions in two wordings; the same answer to two prompts once. About contradictions in one wording."""
    requests = judged(unit(description_1="Mine.", description_2="Mine.", contradiction_3="Other {ref}."))
    assert len({request.request_id for request in requests}) == len(requests)
    assert Counter(request.task for request in requests) == {"judge": 3, "bertscore": 2}
    texts = [text_of(request) for request in requests if request.task == "judge"]
    assert sum("Mine." in text and "Caption 1." in text for text in texts) == 2
    assert sum("Other {ref}." in text and "Contradiction 1." in text and "Caption 1." in text for text in texts) == 1
    compared = {tuple(texts_of(request)) for request in requests if request.task == "bertscore"}
    assert compared == {("Mine.", "Caption 1."), ("Other {ref}.", "Contradiction 1.")}
    _, item, gold = unit()
    assert [*yesbut.judge_requests(item, gold, {})] == []


@pytest.mark.parametrize(("rating", "scorer", "recall", "metrics", "parsed"), cases(__file__, "verdicts", tuple))
def test_verdicts(
    rating: str, scorer: str, recall: str, metrics: dict[str, float], parsed: tuple[str, ...] | None
) -> None:
    answers = unit("Text.")
    for rule in RULES:
        scores = scored(answers, rule, verdicts(rating, scorer, recall))
        for task in ("description_1", "contradiction_3"):
            score = scores[task]
            result = {name: value for name, value in score.metrics.items() if name != "r2"}
            assert result == ({} if parsed or rule == "paper" else {"gpt": -1.0}) | metrics
            assert (score.judge, score.parsed, len(score.responses)) == ("gpt-3.5-turbo", parsed, 3)
            assert score.state == ("ok" if parsed else "unparsable")
            assert f"bertscore:{scorer}|" in score.signature


def test_empty_answers_and_refusals() -> None:
    """A refusal is an empty text under rule `paper` only."""
    answers = unit("")
    assert Counter(request.task for request in judged(answers)) == {"judge": 3, "bertscore": 2}  # asked all the same
    for rule in RULES:
        score = scored(answers, rule)["description_1"]
        assert score.scored and score.metrics in ({"r2": 0.0}, {})
    answers = unit(None, "refused")
    released, paper = (scored(answers, rule, verdicts("[[1]]", "bertscore", "0.0")) for rule in RULES)
    assert released["description_1"].metrics == {}
    assert paper["description_1"].metrics.items() >= {"gpt": 1.0, "bert": 0.0}.items()


def test_thoughts_are_neither_compared_nor_judged_under_rule_paper() -> None:
    thought, bare, unclosed = map(unit, ("<think>A dog?</think>\nCaption 1.", "Caption 1.", "<think>Caption 1."))
    assert scored(thought, "paper")["description_1"].metrics == scored(bare, "paper")["description_1"].metrics
    assert scored(thought, "released")["description_1"].metrics["r2"] == 1.0  # of the reference, all is in it
    requests = [{request.request_id for request in judged(one)} for one in (thought, bare)]
    assert len(requests[0] & requests[1]) == len(requests[1]) - 1  # all but the released judge of descriptions
    score = scored(unclosed, "paper")["description_1"]
    assert (score.state, score.scored, score.metrics["r2"]) == ("unparsable", True, 0.0)
    assert scored(unclosed, "released")["description_1"].state == "ok"
    assert scored(unclosed, "paper")["moral_mcq_1"].state == "unparsable"


Place = tuple[str, str, int]  # a condition, a task, and a comic's number


def every(task: str, text: str, number: int = 4, condition: str = "default") -> dict[Place, str]:
    """One answer to a task about every comic."""
    return {(condition, task, n): text for n in range(1, number + 1)}


def rows_of(output: Mapping[Place, str], name: str = "table2", judged: int = 0) -> list[dict[str, Any]]:
    """A model's rows of a table from answers[condition, task, comic's number]; the first `judged` comics are judged.

    Comics without an answer in a condition that others were asked in have missing answers, as in a file of scores.
    """
    files = corpus(*map(comic, range(1, 5)))
    golds, by_id = read_golds(yesbut, files), read_items(yesbut, files)
    scores: list[Score] = []
    for n, condition in itertools.product(range(1, 5), sorted({condition for condition, _, _ in output})):
        item, gold = by_id[f"{n:05d}.jpg"], golds[f"{n:05d}.jpg"]
        given = {task: text for (of, task, m), text in output.items() if (of, m) == (condition, n)}
        responses = {task: response(f"{task} {n}", text) for task, text in given.items()}
        verdict = verdicts("[[4]]", "none", "", "ok" if n <= judged else "failed")
        scores += score_responses(yesbut, responses, item, gold, verdict, condition)
    table = tabulate(TABLES[name], [Scored("m", "measured", "test", scores)], golds, by_id, files)
    return [row for row in table.rows if row["kind"] == "measured"]


@pytest.mark.parametrize(("number", "n_missing", "comparable"), [(3, 1, "no"), (4, 0, "yes")])
def test_comics_that_were_never_asked_are_missing(number: int, n_missing: int, comparable: str) -> None:
    output = every("moral_mcq_1", "A") | every("moral_mcq_1", "A", number, "chained")
    default, chained = rows_of(output, name="table3")
    assert (default["n_missing"], default["comparable"]) == (0, "yes")
    assert (chained["n"], chained["n_missing"], chained["comparable"]) == (number, n_missing, comparable)


@pytest.mark.parametrize(("judged", "comparable"), [(4, "yes"), (1, "no"), (0, "yes")])
def test_failed_verdicts_show(judged: int, comparable: str) -> None:
    (row,) = rows_of(every("description_1", "Text.") | every("contradiction_1", "Text."), judged=judged)
    assert (row["n_description"], row.get("n_description_gpt")) == (4, judged or None)
    assert (row.get("n_contradiction_gpt"), row.get("n_description_bert")) == (judged or None, None)
    assert row["comparable"] == comparable  # no verdict at all: nobody was asked
    if judged == 1:
        assert "description_gpt n=1" in str(row["note"]) and row["prompts_least_n"] == 1


def test_a_prompt_with_few_answers_shows() -> None:
    (row,) = rows_of(every("title_mcq_1", "A") | every("title_mcq_3", "B", 1) | every("moral_mcq_2", "A"))
    assert (row["title_acc"], row["n_title"], row["prompts_least_n"], row["comparable"]) == (50.0, 4, 1, "no")
    assert (row["prompts"], row["title_acc_sd"]) == ("1-2", pytest.approx(5000**0.5))
    assert row.get("philosophy_acc_sd") is None
    assert (row["n"], row["n_missing"]) == (1, 3) and "title_acc n=4" in str(row["note"])
    (row,) = rows_of(every("title_mcq_1", "A"))
    assert (row["prompts"], row["prompts_least_n"], row["comparable"]) == (1, 4, "yes")


@pytest.mark.real
def test_released_annotations(mirror: Path, root: Path) -> None:
    """348 comics, options read in every form, and table 1 as it is printed."""
    if not (mirror / "yesbut" / ANNOTATIONS).is_file():
        pytest.skip(f"REAL DATA ABSENT: no yesbut/{ANNOTATIONS} in {mirror}; set PUNCHLINE_MIRROR to run this test")
    released = {ANNOTATIONS: (mirror / "yesbut" / ANNOTATIONS).read_bytes()}
    result, golds, listed = read_items(yesbut, released), read_golds(yesbut, released), yesbut.listing(released)
    assert len(listed) == 348 and {url.split("/media/")[0] for _, _, url in listed} == {"https://pbs.twimg.com"}
    assert list(result) == list(golds) == [item_id for item_id, _, _ in listed]
    forms = ["{l}", "({l})", "{l}. {t}", "The answer is {l}.", "**{l}**", "{t}", "I choose {l}: {t}", "{l}\n\nA man."]
    for (item_id, gold), kind in itertools.product(golds.items(), yesbut.CHOSEN):
        choices, letter = options(str(result[item_id].fields[kind])), gold.values[kind]
        answers = [form.format(l=letter, t=choices[letter]) for form in forms]
        assert {choice(answer, choices, choices).value for answer in answers} == {letter}
    rows = tabulate(TABLES["table1"], [], {}, {}, released, read_published(root / "config/published/yesbut.csv")).rows
    printed = {row["model"]: row for row in rows if row["kind"] == "published"}
    for row in (row for row in rows if row["kind"] != "published"):
        for column in ("number", "length"):
            value = row.get(column)
            assert printed[row["model"]].get(column) == (None if value is None else f"{value:.0f}")
