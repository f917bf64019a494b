"""The report as a person meets it: in a real browser, from a folder and from a server; and what it may not do."""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from tests.servers.scripted import completion, scripted

from punchline.files import read_records
from punchline.report.shards import code
from punchline.schema import Gold
from punchline.scores import read_scores

from .project import Project

pytestmark = [pytest.mark.e2e, pytest.mark.long]
CONFIG = "models=[random,reading-order,served] limit=6 benchmarks=[pixelhumor,yesbut]"
PAGES = ("index.html", "tables/pixelhumor/index.html", "tables/pixelhumor/table8.html", "wall/pixelhumor.html")
PAGES += ("item.html#pixelhumor/borderless_1", "compare.html", "unread.html", "overview.html")
# What no page may run, follow or be bent by.
HOSTILE = (
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'><svg onload='window.hit = 1'>",
    "</script><a href='javascript:window.hit = 1'>javascript:window.hit = 1</a>",
    "<think><b onmouseover='window.hit = 1'>thought</b></think>Yes \u202egnirts\u202c \x1b[31mred\u0000",
    "A" * 1_000_000,
)
WIDTHS = (390, 1280)


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A report on six demo comics of two benchmarks, one table of it audited."""
    project = Project.copy(tmp_path_factory.mktemp("reported"))
    with scripted(lambda call: call.json(completion(HOSTILE[len(call.body) % len(HOSTILE)]))) as server:
        card = f"engine: openai\nid: m\nbase_url: {server.url}/v1\nattempts: 1\ncaveat: <b onclick=hit()>any</b>\n"
        (project.path / "config/model/served.yaml").write_text(card)
        project.snakemake("results/table8.csv", "results/yesbut/table2.csv", config=CONFIG)
    project.punchline("audit", "results/table8.csv")
    project.snakemake("report", config=CONFIG)
    return project


def report(project: Project) -> Path:
    return project.path / "results" / "report"


class Links(HTMLParser):
    """Addresses that a page names, and what its policy forbids."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forbidden: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links += [str(given[name]) for name in ("href", "src") if name in given]
        self.forbidden += [name for name in given if name.startswith("on") or name == "style"]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.forbidden.append(tag)


def test_every_link_leads_somewhere_and_no_page_leaves_the_folder(reported: Project) -> None:
    pages = sorted(report(reported).rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        found = Links(page)
        assert found.forbidden == [], page
        assert "default-src 'none'" in page.read_text()
        for link in found.links:
            path = re.split("[#?]", link)[0]
            assert "://" not in path and not path.startswith("/"), (page, link)
            assert not path or (page.parent / path).is_file(), (page, link)


def test_the_list_of_files_is_what_is_there(reported: Project) -> None:
    root = report(reported)
    listed = json.loads((root / "files.json").read_text())
    there = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    beside = {name for name in there if name.endswith(".made.json")} | {"files.json"}
    assert {name for name in there - beside if not name.startswith(("answers/", "items/"))} <= set(listed)
    assert set(listed) <= there


def test_nothing_changed_nothing_to_do_and_a_lost_page_comes_back(reported: Project) -> None:
    assert "Nothing to be done" in reported.snakemake("-n", "report", config=CONFIG)
    page = report(reported) / "tables/pixelhumor/table8.html"
    content = page.read_bytes()
    page.unlink()
    reported.snakemake("report", config=CONFIG)
    assert page.read_bytes() == content


def test_the_pages_say_what_was_audited(reported: Project) -> None:
    said = (report(reported) / "tables/pixelhumor/table8.html").read_text()
    assert 'class="verdict equal"' in said and "of another root" not in said
    assert "not audited yet" in (report(reported) / "tables/pixelhumor/table2.html").read_text()


def test_a_figure_for_a_paper(reported: Project) -> None:
    reported.snakemake("results/yesbut/figure5.svg", config=CONFIG)
    folder = reported.path / "results/yesbut"
    assert (folder / "figure5.pdf").read_bytes().startswith(b"%PDF-")
    svg = (folder / "figure5.svg").read_text()
    assert "currentColor" not in svg and "LLaVA-1.6-13B" in svg


def test_snakemakes_report_has_every_figure(reported: Project) -> None:
    chosen = CONFIG.replace("pixelhumor,yesbut", "stripcipher").replace(",served", "")
    reported.snakemake("all", "figures", config=f"run=drawn {chosen}")
    reported.snakemake("--report", "report.html", "all", "figures", config=f"run=drawn {chosen}")
    html = (reported.path / "report.html").read_text()
    drawn = [path for path in (reported.path / "results/runs/drawn").rglob("*.svg") if "report" not in path.parts]
    assert len(drawn) == 8
    assert [path.name for path in drawn if f'"name": "{path.name}"' not in html] == []


def open_page(page: Page, project: Project, name: str) -> None:
    page.goto(f"{report(project).as_uri()}/{name}")
    page.reload()  # another item of the same page is no new page
    if re.match("wall|item|compare", name):
        page.wait_for_selector("body[data-ready]")


def watched(page: Page) -> list[str]:
    """What goes wrong on a page from now on: errors, what its policy refused, requests that leave the folder."""
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
    return wrong


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_work_from_a_folder_and_pass_axe(reported: Project, browser: Browser, scheme: str) -> None:
    for width in WIDTHS:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        wrong = watched(page)
        for name in PAGES:
            open_page(page, reported, name)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than {width}"
            assert wrong == [], name
            found = Axe().run(page)  # it asks for style sheets itself, in vain
            wrong.clear()
            assert found.violations_count == 0, f"{name} at {width}, {scheme}: {found.generate_report()}"
        context.close()


def test_rows_sort_by_keyboard_and_filter(reported: Project, page: Page) -> None:
    page.goto((report(reported) / "tables/pixelhumor/table8.html").as_uri())
    head = page.locator("th", has_text="Panel accuracy")
    column = page.locator("th").all_inner_texts().index("Panel accuracy") + 1
    head.focus()
    page.keyboard.press("Enter")
    shown = page.locator(f"table.sortable >> nth=0 >> tbody tr td:nth-child({column})").all_inner_texts()
    values = [float(text.split()[0]) for text in shown if text]
    assert len(values) > 5 and values in (sorted(values), sorted(values, reverse=True))
    page.locator("input[value=published]").uncheck()
    assert page.locator("tr.published:visible").count() == 0
    page.locator("#search").fill("reading-order multi")
    assert page.locator("table.sortable >> nth=0 >> tbody tr:visible").count() == 1
    assert page.locator("#count").inner_text().startswith("1 of ")


def test_a_wall_filters_and_leads_to_items_by_keyboard(reported: Project, page: Page) -> None:
    open_page(page, reported, "wall/pixelhumor.html")
    assert page.locator(".wall li").count() == 6
    assert page.locator(".wall img").count() == 6
    page.locator("select[name=task]").select_option("Q7@default")
    page.locator("select[name=model]").select_option("reading-order")
    page.locator("select[name=verdict]").select_option("right")
    right = page.locator(".wall li").count()
    page.locator("select[name=verdict]").select_option("wrong")
    assert right and right + page.locator(".wall li").count() == 6
    page.locator("select[name=verdict]").select_option("models")
    apart = page.locator(".wall li .id").all_inner_texts()
    assert "verdict=models" in page.url
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator(".wall li .id").all_inner_texts() == apart and len(apart) > 1
    page.locator(".wall a").first.press("Enter")
    page.wait_for_selector(f"body[data-ready='pixelhumor/{apart[0]}']")
    page.keyboard.press("j")
    page.wait_for_selector(f"body[data-ready='pixelhumor/{apart[1]}']")
    assert page.locator("h1").inner_text() == apart[1]


def test_an_item_shows_what_was_read_and_where_it_comes_from(reported: Project, page: Page) -> None:
    items = [
        json.loads(line) for line in (reported.path / "data/items/pixelhumor/items.jsonl").read_text().splitlines()
    ]
    item = next(one for one in items if one["images"][0]["width"] > one["images"][0]["height"])
    open_page(page, reported, f"item.html#pixelhumor/{item['item_id']}")
    order = page.locator(".task", has_text="Q7").locator(".answer", has_text="reading-order")
    assert re.fullmatch(r"[\d, ]+", order.locator(".said").inner_text()) and not order.locator("mark").count()
    assert not order.locator("details li").count()  # made when it is opened, by keyboard too
    order.locator("summary", has_text="Where this comes from").press("Enter")
    chain = order.locator("li").all_inner_texts()
    assert any(item["images"][0]["sha256"] in line for line in chain)
    request = next(line.split()[-1] for line in chain if line.startswith("request"))
    assert json.loads(reported.punchline("show", request[:12]))["requests"][0]["request_id"] == request
    order.locator("a", has_text="table8").click()
    assert page.url.endswith("tables/pixelhumor/table8.html")
    open_page(page, reported, f"item.html#pixelhumor/{item['item_id']}")
    page.locator("label", has_text="panels and labels").click()
    assert page.locator(".overlay .panel").count() >= 1
    page.locator("summary", has_text="Word by word").click()
    assert page.locator(".difference").count() == 1
    marked = []
    for one in items:  # what is read of an answer that says more than that
        open_page(page, reported, f"item.html#pixelhumor/{one['item_id']}")
        marked += page.locator(".said:has(mark)").evaluate_all(
            "all => all.map(p => [p.querySelector('mark').textContent, p.textContent])"
        )
    assert marked and all(read in said and len(read) < len(said.strip()) for read, said in marked)


def test_an_unread_answer_leads_to_its_item(reported: Project, page: Page) -> None:
    page.goto(f"{report(reported).as_uri()}/unread.html")
    link = page.locator("td a").first
    request = link.inner_text().split(":")[0]
    shown = json.loads(reported.punchline("show", request))["requests"][0]
    link.click()
    page.wait_for_selector(f"body[data-ready='{shown['benchmark']}/{shown['item_id']}']")


def test_what_models_say_runs_nothing_and_breaks_no_page(reported: Project, page: Page) -> None:
    wrong = watched(page)
    items = (reported.path / "data/items/pixelhumor/items.jsonl").read_text().splitlines()
    seen = ""
    for line in items[:3]:
        open_page(page, reported, f"item.html#pixelhumor/{json.loads(line)['item_id']}")
        seen += page.locator("#tasks").inner_text()
        for summary in page.locator("summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "<script>window.hit = 1</script>" in seen and "\\u202egnirts" in seen and "\\u001b[31mred" in seen
    # Places count characters, not units of 16 bits.
    answer = "{text: '\\u{1f600}\\u{1f600} Yes, so it is', thoughts: 0, span: [3, 6]}"
    assert page.evaluate(f"said({answer}).querySelector('mark').textContent") == "Yes"
    for name in (
        "unread.html",
        "tables/pixelhumor/table8.html",
        "item.html#pixelhumor/<img src=x onerror=window.hit=1>",
    ):
        page.goto(f"{report(reported).as_uri()}/{name}")
        page.wait_for_timeout(300)
    assert "no item <img" in page.locator("#problem").inner_text()
    assert page.evaluate("window.hit") is None and page.locator("a[href^=javascript]").count() == 0
    assert wrong == []


@pytest.fixture
def viewed(reported: Project) -> Iterator[str]:
    """`punchline view` of that report: its address."""
    started = subprocess.Popen(
        [sys.executable, "-m", "punchline.cli", "view", "--no-browser"],
        cwd=reported.path,
        env=reported.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    yield started.stdout.readline().split("/index.html")[0]
    started.terminate()
    started.wait(10)


def test_view_serves_this_machine_only(reported: Project, viewed: str) -> None:
    def status(path: str, **headers: str) -> int:
        try:
            with urllib.request.urlopen(urllib.request.Request(viewed + path, headers=headers), timeout=10) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            return error.code

    assert status("/index.html") == 200
    assert status("/index.html", Host="evil.example") == 400
    assert status("/..%2f..%2fconfig/run.yaml") == 404
    assert status("/pictures/..%2f..%2f..%2fconfig%2frun.yaml") == 404
    with urllib.request.urlopen(viewed + "/static/mode.js", timeout=10) as reply:
        assert b'"all"' in reply.read()
    port = viewed.rsplit(":", 1)[1]
    said = reported.run("punchline", "view", "--no-browser", "--port", port, fails=True).stderr
    assert f"port {port} of 127.0.0.1 cannot be used" in said


def test_view_without_a_report_says_what_makes_it(small: Project) -> None:
    said = small.run("punchline", "view", "--no-browser", fails=True).stderr
    assert "no report" in said and "snakemake --cores all report" in said


def test_a_wrong_word_for_pictures(small: Project) -> None:
    done = small.run("snakemake", "--cores", "1", "report", "--config", "pictures=everything", fails=True)
    assert "pictures" in done.stderr and "own" in done.stderr


def test_the_compare_page_counts_right_answers(reported: Project, browser: Browser) -> None:
    """Its counts, from the grades; hostile answers run nothing."""
    codes = []
    for model in ("random", "reading-order"):
        golds = {gold.item_id: gold for gold in read_records(reported.path / "data/items/pixelhumor/gold.jsonl", Gold)}
        scores = read_scores(reported.path / f"results/pixelhumor/scores/{model}.parquet")
        found = [score for score in scores if score.rule == "released" and score.responses]
        codes.append({(grade.task, grade.item_id): code("pixelhumor", grade, golds[grade.item_id]) for grade in found})
    both = {key: (a, codes[1][key]) for key, a in codes[0].items() if (a + codes[1][key]).isdigit()}
    expected = {task: [0, 0, 0, 0] for task, _ in both}
    for (task, _), (a, b) in both.items():
        expected[task][{(True, True): 0, (True, False): 1, (False, True): 2}.get((a > "4", b > "4"), 3)] += 1
    page = browser.new_context(color_scheme="dark").new_page()
    open_page(page, reported, "compare.html#pixelhumor/random/reading-order")
    page.locator("select[name=rule]").select_option("released")
    page.wait_for_function("document.querySelector('#counts td')")
    rows = [line.split("\t") for line in page.locator("#counts tbody tr").all_inner_texts()]
    assert {task: list(map(int, counts)) for task, *counts in rows} == expected != {}
    parted = sum(abs(int(a) - int(b)) > 4 for a, b in both.values())
    assert page.locator("#number").inner_text() == f"{parted} answers" != "0 answers"
    wrong = watched(page)
    open_page(page, reported, "compare.html#pixelhumor/served/reading-order")
    assert page.evaluate("window.hit") is None and wrong == []
