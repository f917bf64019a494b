"""HumorBench's tables, worked out by hand on small sets of elements."""

import datetime
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from scipy import stats
from tests.records import read_golds, read_items, refused, response
from tests.tabulated import Scored, score_responses, tabulate
from tests.test_humorbench import corpus

from punchline.benchmarks import humorbench
from punchline.benchmarks.humorbench import replay
from punchline.benchmarks.humorbench.labels import as_released, read_labelled
from punchline.benchmarks.released import Answer
from punchline.core.benchmark import Verdict
from punchline.errors import PunchlineError
from punchline.files import csv_text
from punchline.schema import ModelCard, Price, Score, State, Usage

TABLES = humorbench.TABLES
Element = tuple[str, str]  # caption, element


class Data:
    """Elements as items and gold, made from raw files."""

    def __init__(self, elements: Sequence[Element], wordplay: Sequence[int] = ()) -> None:
        rows = [{"idx": n, "caption": caption, "element": element} for n, (caption, element) in enumerate(elements)]
        flags = {"wordplay": [(str(n), str(n in wordplay)) for n in range(len(rows))]}
        self.files = corpus(rows, flags)
        self.items, self.golds = read_items(humorbench, self.files), read_golds(humorbench, self.files)

    def model(
        self,
        name: str,
        verdicts: str,
        *,
        card: ModelCard | None = None,
        judge: ModelCard | None = None,
        tokens: tuple[int | None, int | None] = (None, None),
        judge_tokens: tuple[int | None, int | None] = (None, None),
        outputs: Sequence[int] = (),
        by: str | None = "gpt-4o",
    ) -> Scored:
        """A model with one letter an element: P(ASS), F(AIL), ?(unparsable), m(issing), f(ailed), r(efused to explain).

        `by` None: no judge.
        """
        scores: list[Score] = []
        for index, (item_id, item) in enumerate(self.items.items()):
            letter = verdicts[index]
            state: State = {"m": "missing", "f": "failed", "r": "refused"}.get(letter, "ok")  # type: ignore[assignment]
            usage = Usage(prompt=tokens[0], completion=outputs[index] if outputs else tokens[1])
            text = f"explanation {index}" if state == "ok" else None
            explain = response("r", text, state, usage=usage if state in ("ok", "refused") else Usage())
            output = {"P": "<judgement>PASS</judgement>", "F": "<judgement>FAIL</judgement>"}.get(letter, "Hm.")
            said = response("r", output, usage=Usage(prompt=judge_tokens[0], completion=judge_tokens[1]))
            verdict = None if by is None else functools.partial(lambda said, _: Verdict(str(by), said), said)
            scores += score_responses(humorbench, {"explain": explain}, item, self.golds[item_id], verdict, name=name)
        return Scored(name, "measured", "replay", scores, card, judge)

    def table(self, name: str, *models: Scored, **files: bytes) -> tuple[list[dict[str, Any]], str]:
        """Rows of ours, and the notes."""
        own = {key.replace("_csv", ".csv"): content for key, content in files.items()}
        result = tabulate(TABLES[name], models, self.golds, self.items, self.files | own)
        return result.rows, " ".join(result.notes)


def card(name: str, price: tuple[float, float] | None = None, currency: str = "USD", **changes: Any) -> ModelCard:
    day = datetime.date(2025, 5, 1)
    stated = {"currency": currency, "date": day, "source": "a list"}
    result = Price(input=price[0], output=price[1], **stated) if price is not None else None  # type: ignore[arg-type]
    return ModelCard(name=name, engine="openai", price=result, **changes)


# Three captions: A of two elements, B of one, C of three.
SMALL = Data([("A", "a1"), ("A", "a2"), ("B", "b"), ("C", "c1"), ("C", "c2"), ("C", "c3")], wordplay=(0, 3))


def test_what_has_no_verdict_is_counted() -> None:
    ((row,), _) = SMALL.table("leaderboard", SMALL.model("m", "P?mfrF"))
    assert [row[f"n_{name}"] for name in ("missing", "failed", "refused", "unparsable")] == [1] * 4
    assert (row["n"], row["accuracy"], row["comparable"]) == (3, pytest.approx(1 / 3), "no")
    ((row,), _) = SMALL.table("leaderboard", SMALL.model("m", "PFP?rF"))
    assert row["comparable"] == "yes"  # nothing missing or failed
    rows, notes = SMALL.table("leaderboard", SMALL.model("m", "PPPPPr", by=None), SMALL.model("o", "PPPPPP"))
    assert [(row["model"], row["n"], row.get("accuracy")) for row in rows] == [("m", 0, None), ("o", 6, 1.0)]
    assert "No verdict on m: choose a judge with judge=NAME" in notes


PRICED, JUDGE = card("m", (2.0, 10.0)), card("gpt-4o", (2.5, 10.0))


def priced(verdicts: str = "PFPPPP", **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"card": PRICED, "judge": JUDGE, "tokens": (100, 50), "judge_tokens": (200, 10)}
    ((row,), _) = SMALL.table("leaderboard", SMALL.model("m", verdicts, **fields | changes))
    return row


EACH = (100 * 2 + 50 * 10 + 200 * 2.5 + 10 * 10) / 1e6


@pytest.mark.parametrize(
    ("verdicts", "changes", "n", "cost"),
    [
        ("PFPPPP", {}, 6, 6 * EACH),
        ("PFPPP?", {}, 5, 6 * EACH),  # an unparsable verdict cost as much, and is not in the denominator
        ("PFPPPm", {}, 5, 5 * EACH),
        ("PFPPPP", {"judge_tokens": (0, 0), "tokens": (0, 0)}, 6, 0),
        # Nobody judged a refusal: it costs what the explainer took, and hides not the cost of all the rest.
        ("PFPPPr", {}, 6, 5 * EACH + (100 * 2 + 50 * 10) / 1e6),
        ("PFPPP?", {"card": card("m")}, 5, None),
        ("PFPPPP", {"by": None}, 0, None),
        *(("PFPPPP", {"judge": judge}, 6, None) for judge in (None, card("j"), card("j", (2.5, 10.0), "EUR"))),
        *(("PFPPPP", {"tokens": tokens}, 6, None) for tokens in ((None, 50), (100, None))),
        ("PFPPPP", {"card": None}, 6, None),
        ("PFPPPP", {"judge_tokens": (None, None)}, 6, None),
    ],
)
def test_cost_is_tokens_times_price_of_both(verdicts: str, changes: Any, n: int, cost: float | None) -> None:
    row = priced(verdicts, **changes)
    assert (row["n"], row.get("cost")) == (n, None if cost is None else pytest.approx(cost))
    assert priced("PF??mP", outputs=(10, 20, 999, 999, 0, 60))["output_tokens"] == 30


def passed(rows: list[dict[str, Any]], definition: str) -> dict[str, tuple[int, float]]:
    return {row["model"]: (row["n"], row["passed"]) for row in rows if row["definition"] == definition}


@pytest.mark.parametrize(
    ("third", "hard", "comparable"),  # verdicts of four elements
    [
        ("FFFP", {"a": (4, 0), "b": (4, 1), "c": (4, 1)}, "yes"),
        # element 1 has two verdicts only; the refusal of element 2 counts as one that failed
        ("F?rP", {"a": (3, 0), "b": (3, 1), "c": (3, 1)}, "no"),
        ("mmmm", {}, "yes"),
    ],
)
def test_an_element_needs_three_verdicts(third: str, hard: Any, comparable: str) -> None:
    data = Data([(f"c{n}", "e") for n in range(4)])
    models = data.model("a", "FFFF"), data.model("b", "FFFP"), data.model("c", third)
    rows, notes = data.table("table4", *models)
    assert passed(rows, "elements") == hard
    assert ("No hard subset: it needs elements with at least 3 verdicts" in notes) == (hard == {})
    rows, notes = data.table("table3", *models)
    assert (rows[0].get("hard_subset") is None) == (hard == {})
    few = "Not every element has 3 verdicts: the hard subset is chosen from the rest" in notes
    assert few == (comparable == "no") and (not hard or {row["comparable"] for row in rows} == {comparable})


def labels(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return csv_text(tuple(rows[0]), rows).encode()


def test_explanations_without_a_label_are_in_no_row() -> None:
    other = {"human_labels_csv": labels([{"annotation_row": "0", "explanation": "another", "label": "PASS"}])}
    for by, files in (("gpt-4o", other), (None, other), ("gpt-4o", {})):
        rows, notes = SMALL.table("table1", SMALL.model("m", "PPPPPP", by=by), **files)
        assert rows == [] and "No judged explanation has a human label" in notes


@pytest.mark.parametrize(("row", "expected"), refused("humorbench labels"))
def test_bad_labels(row: dict[str, str], expected: str) -> None:
    content = labels([{"explanation": "explanation 0", **row}])
    with pytest.raises(PunchlineError, match=expected):
        SMALL.table("table1", SMALL.model("m", "PPPPPP"), human_labels_csv=content)


SCORES = ("benchmark", "model", "score", "source", "date")


def scores(*rows: Sequence[object]) -> bytes:
    return csv_text(SCORES, [dict(zip(SCORES, row, strict=True)) for row in rows]).encode()


def five() -> list[Scored]:
    """Models a to e with accuracies 1/6 to 5/6."""
    return [SMALL.model(name, "P" * n + "F" * (6 - n)) for n, name in enumerate("abcde", 1)]


@pytest.mark.filterwarnings("error")  # a constant column warns nobody
def test_rank_correlation() -> None:
    benchmarks: dict[str, dict[str, float]] = {
        "GPQA": dict(zip("abcde", (10, 30, 20, 50, 40.5), strict=True)),
        "Elo": {"a": 3, "c": 2, "e": -1.5, "z": 9},
        "few": dict.fromkeys("ab", 1),
        "level": dict.fromkeys("abc", 1),
        "nobody": {"z": 1},
    }
    given = [(of, name, value, "a list", "2025-05-01") for of, own in benchmarks.items() for name, value in own.items()]
    models = [*five(), SMALL.model("z", "PPPPPP", by=None)]  # nothing is known of z
    rows, notes = SMALL.table("table2", *models, external_scores_csv=scores(*given))
    result = {row["model"]: (row["n"], row.get("rho"), row.get("p_value")) for row in rows}
    expected = stats.spearmanr([1, 2, 3, 4, 5], [10, 30, 20, 50, 40.5])
    assert result["GPQA"] == (5, pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert result["Elo"][:2] == (3, pytest.approx(-1))
    assert result["few"] == (2, None, None) and result["nobody"] == (0, None, None)
    assert result["level"] == (3, None, None)
    assert "two-sided" in notes and "external_scores.csv" in SMALL.table("table2", *models)[1]


@pytest.mark.parametrize(("rows", "expected"), refused("humorbench scores"))
def test_bad_scores(rows: list[tuple[str, ...]], expected: str) -> None:
    with pytest.raises(PunchlineError, match=re.escape(expected)):
        SMALL.table("table2", *five(), external_scores_csv=scores(*rows))


def variant(name: str, verdicts: str = "PFPPPP", outputs: Sequence[int] = (), **options: Any) -> Scored:
    base = options.pop("base", None)
    return SMALL.model(name, verdicts, outputs=outputs, card=card(name, base=base, options=options))


OUTPUTS = (10, 20, 30, 31, 999, 40)
LOW = variant("low", "PFFFFF", (10, 20, 30, 40, 50, 60), reasoning_effort="low")
BUDGET = variant("b", "PPPFFF", thinking_budget=9)
V3, R1 = variant("v3", "PFPFm?"), variant("r1", "PPFPPP", base="v3")
GPT, TUNED = variant("gpt", "PFPFFF"), variant("tuned", "PPPPPP", base="gpt")
SEARCH = variant("s", "PPPPFF", base="gpt", search=True)


@pytest.mark.parametrize(
    ("table", "models", "expected"),
    [
        ("figure5", [LOW, BUDGET, variant("neither")], [("low", "low", "", 1 / 6, 35), ("b", "", "9", 1 / 2, None)]),
        ("figure5", [variant("neither")], "No selected model's card has reasoning_effort or thinking_budget"),
        ("figure7", [variant("b", "PFPPmF", OUTPUTS, thinking_budget=30), LOW], [("b", "30", 131 / 5, 3 / 5)]),
        ("figure7", [LOW], "No selected model's card has a thinking_budget"),
        ("figure6", [R1, V3], [("r1", "v3", 2 / 4, 3 / 4, 1 / 4)]),  # elements 0 to 3 have both
        ("figure6", [GPT, TUNED, SEARCH], [("tuned", "gpt", 2 / 6, 1, 4 / 6)]),
        ("figure6", [R1], "no tuned or thinking model together with its `base`"),
        # fewer than 100 elements: all are hard
        ("table6", [GPT, TUNED, SEARCH], [("s", "gpt", *(2 / 6, 4 / 6, 2 / 6) * 2)]),
        ("table6", [GPT, SEARCH], [("s", "gpt", 2 / 6, 4 / 6, 2 / 6, None, None, None)]),
        ("table6", [GPT, SEARCH], "No hard subset"),
        ("table6", [V3, variant("r", base="v3", search=False)], "no searching model together with its `base`"),
    ],
)
def test_variants_of_a_model(table: str, models: list[Scored], expected: str | list[tuple[Any, ...]]) -> None:
    rows, notes = SMALL.table(table, *models)
    if isinstance(expected, str):
        assert expected in notes and (rows == [] or expected == "No hard subset")
        return
    columns = ("model", *TABLES[table].keys, *TABLES[table].columns)
    close = [[pytest.approx(cell) if isinstance(cell, float) else cell for cell in row] for row in expected]
    assert [[row.get(name) for name in columns] for row in rows] == close


def test_labelled_explanations_can_be_replayed() -> None:
    annotations = labels([{"caption": "c", "element": "a\r\nb"}, {"caption": "c", "element": "d"}])
    own = [("d", "why, so", "pass"), ("a\nb", "no", "FAIL")]
    names = ("element", "explanation", "label")
    rows = [dict(zip(names, cells, strict=True)) | {"caption": "c", "explainer_model": "m"} for cells in own]
    result = read_labelled(labels(rows), "l.csv", annotations)
    assert [(one.item_id, one.label) for one in result] == [("1", "PASS"), ("0", "FAIL")]
    answers = replay.read({"r.csv": as_released(result).encode()}, "r.csv")
    texts = {"1": "why, so", "0": "no"}
    assert [*map(dict, answers.values())] == [{"explain": Answer(texts[row])} for row in answers]
