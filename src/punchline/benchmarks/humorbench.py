"""HumorBench: does a model get the joke? Explanations of captioned cartoons, judged element by element.

Narad et al., "Which LLMs Get the Joke? Probing Non-STEM Reasoning Abilities with HumorBench" (2025). Released files:
github.com/ReubenNarad/Humor-Bench at cc99276f7cdff9f90d6316a61668e59be6bd1c7a. Text only: a cartoon's description and
caption in, an explanation out; a judge then says of one annotated element whether the explanation covers it.
An item is one of the 499 elements (its id is the 0-based row of comprehensive_annotations.csv: `idx` repeats), and each
element has an explanation of its own, as released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from punchline.benchmarks import humorbench_tables
from punchline.core.benchmark import DEFAULT, Files, Verdict, filled
from punchline.core.errors import PunchlineError
from punchline.core.records import (
    RULES,
    Gold,
    Grade,
    ImageRef,
    Item,
    Message,
    Request,
    Response,
    Rule,
    Sampling,
    State,
    Text,
    sha256,
)
from punchline.core.storage import parse_csv
from punchline.score.length import last_tokens, tokenizer

NAME = "humorbench"
TASKS = ("explain",)
JUDGE_TASK = "judge"
CONDITION = DEFAULT
IMAGES = False
CONDITIONS = (CONDITION,)
CHAINED = ()
JUDGES = (JUDGE_TASK,)

ANNOTATIONS = "comprehensive_annotations.csv"
CATEGORIES = {  # key of the gold values: (file, its column)
    "wordplay": ("categorized_output_wordplay.csv", "wordplay"),
    "cultural_reference": ("categorized_output_cultural_reference.csv", "cultural reference"),
    "toxic_or_shocking": ("categorized_output_toxic_or_shocking.csv", "toxic or shocking"),
}
ITEM_FILES = (ANNOTATIONS,)
GOLD_FILES = (ANNOTATIONS, *(name for name, _ in CATEGORIES.values()))

# Appendix A; the two lines of the cartoon, and the line breaks around, as the released prompts.py has them.
EXPLAIN_PROMPT = """
You are a humor expert extraordinaire, judging the New Yorker Cartoon Caption Contest. Your current task is to help us \
understand the humor in various submitted captions. Given a cartoon description and a caption submission, explain (in \
less than 200 words) *what* the joke is, focusing on the material substance of the joke.
STRICTLY use the format: <explanation>explanation goes here</explanation>

Cartoon description: {description}
Caption: {caption}
"""

# Appendix B, with the line breaks and the punctuation of the released prompts.py.
JUDGE_PROMPT = """
You will receive:
1. A short cartoon description
2. A winning funny caption
3. A student’s answer
4. A brief “anticipated answer point” that captures the crucial comedic device or element

Your job is to determine whether the student’s answer **explicitly covers** that “anticipated answer point.”\x20

- If the student’s answer captures or discusses the key comedic element (even if the wording is different), **PASS**.
- If the student’s answer **omits** or **contradicts** that key comedic element, **FAIL**.
- Do not penalize extra details or expansions. Synonyms or paraphrasing are acceptable if they convey the same comedic \
logic.
- Be mindful: if the anticipated answer point emphasizes something specific (e.g. a pun, wordplay, or ironic twist), \
check that the student’s answer includes it.

At the end of your evaluation, provide exactly two XML tags:
1. <reasoning>Short explanation of your thought process</reasoning>
2. <judgement>PASS or FAIL</judgement>

Do not include additional commentary or deviation from this format.

Cartoon description: {description}
Caption: {caption}
Student's answer: {explanation}
Anticipated answer point: {element}
"""

TEMPERATURE = 1.0  # section 4; the judge is asked without one, which is 1 at the API it was asked through
MAX_TOKENS = 4096  # ours: the released code sets none
JUDGE_MAX_TOKENS = 1024  # as the released code has it where the API wants a limit
LAST_TOKENS: dict[Rule, int] = {"released": 500, "paper": 1000}  # truncate_and_regrade.py; section 3.5


def _normal(text: str) -> str:
    """Text with plain line ends, as texts are joined."""
    return text.replace("\r\n", "\n").strip()


def _rows(files: Files, name: str, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    if name not in files:
        raise PunchlineError("the file is not there", file=name, way_out="Fetch the benchmark's annotation files")
    return parse_csv(files[name], columns, file=name)


def _annotations(files: Files) -> Iterator[tuple[str, int, dict[str, str]]]:
    """(item id, line, cells) of every element. Raises PunchlineError for one without text."""
    columns = ("idx", "cartoonstock_id", "contest_number", "description", "caption", "element")
    for row, (line, cells) in enumerate(_rows(files, ANNOTATIONS, columns)):
        for column in ("idx", "description", "caption", "element"):
            if not cells[column].strip():
                raise PunchlineError("the cell is empty", file=ANNOTATIONS, line=line, record=str(row), field=column)
        yield str(row), line, cells


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(item id, source, "") of every element, in released order. Sources: newyorker, cartoonstock."""
    return [(item_id, _source(cells), "") for item_id, _, cells in _annotations(files)]


def _source(cells: Mapping[str, str]) -> str:
    return "cartoonstock" if cells["cartoonstock_id"].strip() else "newyorker"


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the keys of `images`, whose values do not matter: there are none. A cluster is a caption."""
    return [
        Item(
            benchmark=NAME,
            item_id=item_id,
            source=_source(cells),
            cluster=_normal(cells["caption"]),
            fields={"description": cells["description"], "caption": cells["caption"], "idx": cells["idx"]},
        )
        for item_id, _, cells in _annotations(files)
        if item_id in images
    ]


def golds(files: Files) -> list[Gold]:
    """The element that an explanation has to cover, and its categories.

    Category files are joined by `idx`; where that repeats, by its first, second, … occurrence. Raises PunchlineError
    for an element without a category or a category that is neither True nor False.
    """
    flags: dict[str, dict[tuple[str, int], bool]] = {}
    for category, (name, column) in CATEGORIES.items():
        seen: Counter[str] = Counter()
        flags[category] = {}
        for line, cells in _rows(files, name, ("idx", column)):
            if cells[column] not in ("True", "False"):
                raise PunchlineError(
                    f"expected True or False, got {cells[column]!r}",
                    file=name,
                    line=line,
                    record=cells["idx"],
                    field=column,
                )
            flags[category][cells["idx"], seen[cells["idx"]]] = cells[column] == "True"
            seen[cells["idx"]] += 1
    made, seen = [], Counter()
    for item_id, line, cells in _annotations(files):
        values: dict[str, str | bool] = {"element": cells["element"]}
        for category, by_idx in flags.items():
            key = cells["idx"], seen[cells["idx"]]
            if key not in by_idx:
                raise PunchlineError(
                    f"no {category} for idx {cells['idx']}",
                    file=CATEGORIES[category][0],
                    record=item_id,
                    way_out=f"{ANNOTATIONS} has it in line {line}",
                )
            values[category] = by_idx[key]
        seen[cells["idx"]] += 1
        made.append(Gold(benchmark=NAME, item_id=item_id, values=values))
    return made


def oddities(files: Files) -> list[str]:
    """What is odd in the released files and is taken as it stands."""
    found = []
    seen: Counter[str] = Counter()
    for item_id, line, cells in _annotations(files):
        seen[cells["idx"]] += 1
        if seen[cells["idx"]] > 1:
            found.append(f"{ANNOTATIONS}, line {line}, record {item_id}: idx {cells['idx']} is there already")
        if any("\r" in text for text in cells.values()):
            found.append(f"{ANNOTATIONS}, line {line}, record {item_id}: CR LF inside a text")
    return found


def _ask(item: Item, task: str, prompt: str, max_tokens: int) -> Request:
    return Request(
        benchmark=NAME,
        item_id=item.item_id,
        task=task,
        condition=CONDITION,
        messages=(Message(role="user", content=(Text(text=prompt),)),),
        sampling=Sampling(temperature=TEMPERATURE, max_tokens=max_tokens),
    )


def requests(item: Item) -> list[Request]:
    """The one question on an element: explain the joke."""
    return [_ask(item, "explain", filled(EXPLAIN_PROMPT, item.fields), MAX_TOKENS)]


# ---------------------------------------------------------------------------------------------- answers and verdicts


def _between(text: str, tag: str, at: int = 0) -> tuple[int, int, str] | None:
    """(start, end, content) of the first <tag>…</tag> from `at` on; None where there is none."""
    start = text.find(f"<{tag}>", at)
    end = text.find(f"</{tag}>", start + len(tag) + 2) if start >= 0 else -1
    if end < 0:
        return None
    return start, end + len(tag) + 3, text[start + len(tag) + 2 : end]


def explanation(answer: str) -> str:
    """What is judged: all but <reasoning>…</reasoning>; of that the first <explanation>…</explanation>, if any."""
    kept, at = [], 0
    while (found := _between(answer, "reasoning", at)) is not None:
        kept.append(answer[at : found[0]])
        at = found[1]
    answer = "".join((*kept, answer[at:]))
    inside = _between(answer, "explanation")
    return (answer if inside is None else inside[2]).strip()


def judged_text(answer: str, rule: Rule) -> str:
    """The explanation under length control: its last 500 (released) or 1000 (paper) tokens."""
    return last_tokens(explanation(answer), LAST_TOKENS[rule])


def parse_verdict(answer: str) -> str | None:
    """PASS or FAIL: the first <judgement>…</judgement>, stripped; None for anything else."""
    found = _between(answer, "judgement")
    verdict = found[2].strip() if found is not None else ""
    return verdict if verdict in ("PASS", "FAIL") else None


def judge_request(item: Item, gold: Gold, response: Response, rule: Rule) -> Request:
    """What the judge is asked about an answer under one rule."""
    values = {
        **item.fields,
        "explanation": judged_text(response.text or "", rule),
        "element": gold.values["element"],
    }
    return _ask(item, JUDGE_TASK, filled(JUDGE_PROMPT, values), JUDGE_MAX_TOKENS)


def judge_requests(
    item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = CONDITION
) -> list[Request]:
    """What a judge is asked about one model's answer on one element: once where both rules ask the same."""
    response = responses.get("explain")
    if response is None or response.state != "ok":
        return []
    asked = (judge_request(item, gold, response, rule) for rule in RULES)
    return list({request.request_id: request for request in asked}.values())


def signature(rule: Rule, judge: str | None) -> str:
    """What names all that changes a grade's values."""
    return f"element|rule:{rule}|last:{LAST_TOKENS[rule]}|tokenizer:{tokenizer()}|judge:{judge or 'none'}|v:1"


def grade_item(
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    verdicts: Mapping[str, Verdict] | None = None,
    condition: str = CONDITION,
) -> list[Grade]:
    """Whether one model's explanation covers the element, as its judge has it.

    A verdict that is neither PASS nor FAIL leaves the denominator (released code), as does one that is missing or
    failed. A refusal to explain is judged by nobody and is wrong. `verdicts`: by id of the judge's request; None: no
    judge was asked, and nothing is scored.
    """
    response = responses.get("explain")
    state: State = response.state if response is not None else "missing"
    scored, verdict, judge = False, None, None
    parsed: tuple[str, ...] | None = None
    values: dict[str, float] = {}
    if response is not None:
        values |= _tokens(response, "")
    if response is not None and state == "ok":
        asked = judge_request(item, gold, response, rule)
        verdict = (verdicts or {}).get(asked.request_id)
        parsed = (sha256(_normal(explanation(response.text or "")).encode())[:16],)
        if verdict is None:
            state = "missing"
        else:
            judge = verdict.judge
            values |= _tokens(verdict.response, "judge_")
            state = verdict.response.state
            word = parse_verdict(verdict.response.text or "") if state == "ok" else None
            if word is not None:
                scored, parsed = True, (*parsed, word)
                values["passed"] = float(word == "PASS")
            elif state == "ok":
                state = "unparsable"
    elif state == "refused" and verdicts is not None:
        scored = True
        values["passed"] = 0.0
    return [
        Grade(
            benchmark=NAME,
            item_id=item.item_id,
            task="explain",
            condition=CONDITION,
            sample=0,
            model=model,
            judge=judge,
            rule=rule,
            signature=signature(rule, judge),
            responses=tuple(r.digest for r in (response, verdict.response if verdict else None) if r is not None),
            gold=gold.digest,
            state=state,
            scored=scored,
            parsed=parsed,
            values=values,
        )
    ]


def _tokens(response: Response, prefix: str) -> dict[str, float]:
    counted = {"tokens_in": response.usage.prompt, "tokens_out": response.usage.completion}
    return {f"{prefix}{name}": float(count) for name, count in counted.items() if count is not None}


TABLES = humorbench_tables.TABLES
