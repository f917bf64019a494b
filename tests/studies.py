"""A run of three models on eight comics of three benchmarks, and studies of it."""

from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient
from tests.records import response

from punchline.benchmarks.stripcipher.studies import Draft
from punchline.core.benchmark import load, studies
from punchline.core.storage import write_table
from punchline.files import write_bytes, write_records, write_text
from punchline.paths import Paths
from punchline.rating.drafts import draft_units
from punchline.rating.draw import declared, draw_up
from punchline.rating.pages import application
from punchline.rating.votes import Seats, Sheet, Votes
from punchline.schema import Gold, ImageRef, Item, Request, Response

MODELS = ("hal-9000", "deep-thought", "wintermute")
BENCHMARKS = ("pixelhumor", "yesbut", "humorbench")
HOST = "http://rate.test"
HOSTILE = "<script>alert(1)</script> <b onclick=x>\u202e\x1b[31m"
IMAGE = ImageRef(path="images/comic.png", sha256="0" * 64, width=1, height=1, name="page")


def items_of(benchmark: str) -> list[Item]:
    about: dict[str, Any] = {"benchmark": benchmark, "images": (IMAGE,) if benchmark != "humorbench" else ()}
    fields = [{"description": f"scene {n}", "caption": f"caption {n}"} for n in range(8)]
    return [Item(item_id=str(n), source="ab"[n % 2], cluster=str(n), fields=fields[n], **about) for n in range(8)]


def requests_of(benchmark: str) -> list[Request]:
    tasks = {task for study in studies(benchmark).values() for task in study.tasks}
    return [r for item in items_of(benchmark) for r in load(benchmark).requests(item) if r.task in tasks]


def answer(model: str, text: str = "It is funny") -> None:
    """Write a model's answers to all requests."""
    text = f"<think>I am {model}.</think>{text}, says voice {MODELS.index(model)} {HOSTILE}"
    for benchmark in BENCHMARKS:
        responses = [response(request, text) for request in requests_of(benchmark)]
        write_table(f"data/responses/{benchmark}/{model}.parquet", responses, Response)


def write_run() -> None:
    """Write the run into the working folder."""
    for benchmark in BENCHMARKS:
        items = items_of(benchmark)
        write_records(f"data/items/{benchmark}/items.jsonl", items)
        golds = []
        for number in range(len(items)):
            harm = "non-harm" if number else "harm"
            values = {"element": f"point {number}", "potentially_harmful": harm}
            golds.append(Gold(benchmark=benchmark, item_id=str(number), values=values))
        write_records(f"data/items/{benchmark}/gold.jsonl", golds)
        write_table(f"data/requests/{benchmark}.parquet", requests_of(benchmark), Request)
    for model in MODELS:
        answer(model)
    write_bytes("images/comic.png", b"\x89PNG\r\n\x1a\n")
    for name in ("Snakefile", "config/run.yaml"):
        write_text(name, "")


def drawn(name: str, raters: int = 2, **more: Any) -> tuple[Sheet, Seats]:
    return draw_up(Paths(), declared(name), **{"models": MODELS, "raters": raters, "seed": 1, **more})


def saved(study: tuple[Sheet, Seats], name: str = "") -> Votes:
    sheet, seats = study
    return Votes.make(f"data/ratings/{sheet.benchmark}/{name or sheet.study}.sqlite", sheet, seats)


def made(name: str = "relevance", raters: int = 2, **more: Any) -> Votes:
    """A study of five items."""
    return saved(drawn(name, raters, **{"items": 5, **more}))


def drafted() -> Votes:
    """A study of a strip's six drafts, which two raters review."""
    item = Item(benchmark="stripcipher", item_id="s1", source="a", cluster="s1", images=(IMAGE,))
    pool = [Draft("s1", "comprehension", "distractor", f"Other {n}", "one") for n in range(4)]
    pool += [Draft("s1", "comprehension", "answer", f"=Ends {model}", model) for model in ("one", "two")]
    study = studies("stripcipher")["drafts"]
    about = {name: getattr(study, name) for name in ("title", "intro", "options", "note", "questions")}
    about |= {"benchmark": "stripcipher", "study": "drafts", "run": "default", "models": (), "seed": 0}
    sheet = Sheet(**about, units=tuple(draft_units({"s1": item}, pool)))
    return saved((sheet, {"1": [0], "2": [0]}))


def client(votes: Votes, rater: str | None = None) -> TestClient:
    """A browser; it has opened a rater's link if one is given."""
    opened = TestClient(application(votes, ["rate.test"]), base_url=HOST, raise_server_exceptions=False)
    opened.headers["origin"] = HOST
    if rater is not None:
        assert opened.get(f"/r/{votes.new_secret(rater)}").status_code == 200
    return opened


def fill(votes: Votes, value: Callable[[int, str], str], *raters: str) -> None:
    """Answer every page of raters, all by default: with value(unit, rater), and checks with the right value."""
    for rater in raters or votes.raters():
        for index in votes.seats(rater):
            unit = votes.sheet.units[index]
            answers = dict.fromkeys((ask.aspect for ask in votes.sheet.questions[unit.task]), value(index, rater))
            votes.vote(rater, index, dict.fromkeys(answers, unit.right) if unit.kind == "check" else answers, "")
