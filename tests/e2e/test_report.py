"""The report as a person meets it: in a real browser, from a folder and from a server; and what it may not do."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from tests.servers.scripted import completion, scripted

from .project import Project

pytestmark = pytest.mark.long
CONFIG = "models=[invented-a,invented-b,random,reading-order,served] limit=6 benchmarks=[pixelhumor,yesbut]"
READING = ("compare.html", "answers.html", "wall.html", "item.html")
TABLES = ("index", "shortcuts", "pixelhumor/table8", "pixelhumor/figure2")
PAGES = ("index.html", *(f"tables/{name}.html" for name in TABLES), *READING)
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
        project.add_served("served", server.url, "attempts: 1\ncaveat: <b onclick=hit()>any</b>\n")
        project.snakemake("results/table8.csv", "results/yesbut/table2.csv", config=CONFIG)
    project.punchline("audit", "results/table8.csv")
    project.snakemake("report", config=CONFIG)
    return project


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
    root = reported.path / "results/report"
    pages = sorted(root.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        result = Links(page)
        assert result.forbidden == [], page
        assert "default-src 'none'" in page.read_text()
        for link in result.links:
            path = re.split("[#?]", link)[0]
            assert "://" not in path and not path.startswith("/"), (page, link)
            assert not path or (page.parent / path).is_file(), (page, link)
    listed = json.loads((root / "files.json").read_text())
    there = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    beside = {name for name in there if name.endswith(".made.json")} | {"files.json"}
    assert {name for name in there - beside if not name.startswith(("answers/", "items/"))} <= set(listed) <= there
    audited = (root / "tables/pixelhumor/table8.html").read_text()
    assert 'class="verdict equal"' in audited and "of another root" not in audited
    assert "not audited yet" in (root / "tables/pixelhumor/table2.html").read_text()


def test_snakemakes_report_has_every_table_and_figure(reported: Project) -> None:
    config = f"run=drawn {CONFIG.replace('pixelhumor,yesbut', 'stripcipher').replace(',served', '')}"
    reported.snakemake("all", "figures", config=config)
    reported.snakemake("--report", "report.html", "all", "figures", config=config)
    html = (reported.path / "report.html").read_text()
    results = [path for path in (reported.path / "results/runs/drawn").rglob("*") if "report" not in path.parts]
    tables = [path for path in results if path.suffix == ".csv" and path.with_suffix(".lineage.json").exists()]
    drawn = [path for path in results if path.suffix == ".svg"]
    assert len(drawn) == 9 <= len(tables)
    for path in drawn:  # for a paper
        assert "currentColor" not in path.read_text() and path.with_suffix(".pdf").read_bytes().startswith(b"%PDF-")
    assert [path.name for path in (*tables, *drawn) if f'"name": "{path.name}"' not in html] == []


def open_page(page: Page, project: Project, name: str) -> None:
    page.goto("about:blank")  # another view of the same page is no new page
    page.goto(f"{project.path.as_uri()}/results/report/{name}")
    if name.partition("#")[0] in READING:
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
            result = Axe().run(page)  # it asks for style sheets itself, in vain
            wrong.clear()
            assert result.violations_count == 0, f"{name} at {width}, {scheme}: {result.generate_report()}"
        context.close()


def test_a_table_sorts_filters_and_is_copied_as_it_is_shown(reported: Project, page: Page) -> None:
    open_page(page, reported, "tables/pixelhumor/table8.html")
    heads = page.locator("#t thead th").all_inner_texts()
    column = heads.index("WER") + 1
    page.locator("#t thead button", has_text="WER").press("Enter")
    visible = [text.split()[0] for text in page.locator(f"#t tbody td:nth-child({column})").all_inner_texts() if text]
    assert len(visible) > 5 and visible == sorted(visible, key=float)  # lower is better: best first
    page.locator("[data-kind=published].chip").click()
    assert page.locator("#t tr.published:visible").count() == 0
    page.locator("#search").fill("reading-order")
    view = page.evaluate("location.href")
    page.locator("[data-format=latex]").click()
    latex = page.locator("#preview").inner_text()
    assert "\\toprule" in latex and latex.count("reading-order") == page.locator("#t tbody tr:visible").count() == 2
    page.goto("about:blank")
    page.goto(view)  # the address is the view
    assert page.locator("#t tbody tr:visible").count() == 2 and page.locator("#t th[aria-sort=ascending]").count() == 1


@pytest.mark.parametrize(("a", "b"), [("random", "reading-order"), ("invented-a", "invented-b")])
def test_compare_says_what_the_command_says(reported: Project, page: Page, a: str, b: str) -> None:
    open_page(page, reported, f"compare.html#b=pixelhumor&a={a}&c={b}&q=Q7@default&g=all")
    (texts,) = json.loads(reported.punchline("compare", a, b, "--table", "table8", "--run", "default", "--json"))
    one = next(one for one in texts["differences"] if (one["row"], one["column"]) == ("subset=all", "panel_acc"))

    def shown(name: str) -> list[float]:
        text = page.locator(f"#{name}").inner_text().replace("\u2212", "-")
        return [float(part) for part in text.split(" to ")]

    assert shown("difference") == [pytest.approx(one["difference"], abs=0.0006)]
    assert shown("interval") == pytest.approx([one["low"], one["high"]], abs=0.0006)
    counts = [int(text.split()[-1].replace(",", "")) for text in page.locator("#groups button").all_inner_texts()]
    assert sum(counts[:-1]) == counts[-1] == page.locator(".pair").count() > 0
    page.locator("#groups button", has_text="A right, B wrong").click()
    page.wait_for_function("location.hash.includes('g=ab')")
    for pair in page.locator(".pair").all():
        assert [text.split()[-1] for text in pair.locator(".answer .state").all_inner_texts()] == ["right", "wrong"]
    if a == "random":
        open_page(page, reported, f"compare.html#b=pixelhumor&a={a}&c={b}&q=Q1@default&g=all")
        seen = page.locator("main").inner_text()
        assert "not attempted by a baseline" in seen and "Missing" not in seen and "an answer is missing" not in seen


def test_answers_are_searched_filtered_and_saved(reported: Project, page: Page) -> None:
    open_page(page, reported, "answers.html#b=pixelhumor&rule=released")
    page.locator("[data-f=m][value=invented-b]").check()
    page.wait_for_function("location.hash.includes('m=invented-b')")
    page.locator("[data-f=s][value=u]").check()
    page.wait_for_function("location.hash.includes('s=u')")
    page.wait_for_function("document.querySelectorAll('#list li').length < 40")
    rows = page.locator("#list li").count()
    with page.expect_download() as saved:
        page.locator("#csv").click()
    lines = list(csv.DictReader(saved.value.path().read_text(encoding="utf-8-sig").splitlines()))
    assert len(lines) == rows > 0 and {line["state"] for line in lines} == {"unparsed"}
    assert lines[0]["model"] == "invented-b" and lines[0]["why"].startswith("No answer could be read")
    page.locator("#text").fill("NO SUCH WORDS IN ANY ANSWER")
    page.wait_for_selector("#none button")
    page.locator("#none button").click()
    page.wait_for_function("document.querySelectorAll('#list li').length === 40")


def test_flagged_items_and_shortcut_lines(reported: Project, page: Page) -> None:
    """Flagged items come first on the wall, with their flag; rankings have a line for the best shortcut."""
    for name, answers in zip("cde", "aba", strict=True):
        card = (reported.path / f"config/model/invented-{answers}.yaml").read_text()
        (reported.path / f"config/model/invented-{name}.yaml").write_text(card)
    models = f"models=[{','.join(f'invented-{name}' for name in 'abcde')},random,longest-option]"
    reported.snakemake("report", config=f"run=flagged {models} limit=6 benchmarks=[pixelhumor,yesbut]")
    results = reported.path / "results/runs/flagged"
    root = "../runs/flagged/report"
    with (results / "pixelhumor/items.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if (row["task"], row["rule"]) == ("Q1", "paper") and row["flag"]]
    open_page(page, reported, f"{root}/tables/index.html")
    page.locator("section[aria-labelledby=validity] th a", has_text="pixelhumor Items").click()
    assert page.locator("tbody tr").count() > 0
    open_page(page, reported, f"{root}/wall.html#b=pixelhumor&q=Q1@default&rule=paper")
    page.wait_for_selector("body[data-ready]")
    page.locator("#sort").select_option("flag")
    page.wait_for_function("location.hash.includes('sort=flag') && document.body.dataset.ready === location.hash")
    flagged = [bool(card.locator(".flag").count()) for card in page.locator(".wall > li").all()]
    assert flagged == sorted(flagged, reverse=True) and sum(flagged) == len(rows) > 0
    open_page(page, reported, f"{root}/tables/pixelhumor/table2.html")
    assert "Not above the shortcut" in page.locator("section[aria-labelledby=notes]").inner_text()
    open_page(page, reported, f"{root}/tables/yesbut/table2.html")
    assert page.locator(".rank line.shortcut").count() >= 2
    assert "best shortcut, " in page.locator(".panel .key").inner_text()


def test_what_models_say_runs_nothing_and_breaks_no_page(reported: Project, page: Page) -> None:
    wrong = watched(page)
    open_page(page, reported, "answers.html#b=pixelhumor&m=served&rule=paper")
    seen = page.locator("#list").inner_text()
    assert "<script>window.hit = 1</script>" in seen and "\\u202egnirts" in seen and "\\u001b[31mred" in seen
    open_page(page, reported, "compare.html#b=pixelhumor&a=served&c=random&g=all&rule=paper")
    for button in page.locator(".more").all():
        button.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # Places count characters, not units of 16 bits.
    assert page.evaluate("marked('\\u{1f600}\\u{1f600} Yes, so it is', 3, 6)[1].textContent") == "Yes"
    views = ("b=<img src=x onerror=window.hit=1>", "i=<svg onload=window.hit=1>", "a=x&q=<b>", "back=https://evil")
    for name in READING:
        for view in views:
            open_page(page, reported, f"{name}#{view}")
    assert "is not in this run" in page.locator("#problem").inner_text() or page.url.endswith("evil")
    assert page.evaluate("window.hit") is None and page.locator("a[href^=javascript], a[href^=http]").count() == 0
    assert wrong == []


def test_view_serves_this_machine_only(reported: Project) -> None:
    with reported.serving("view", "--no-browser") as line:
        viewed = line.split("/index.html")[0]
        statuses = {"/index.html": 200, "/..%2f..%2fconfig/run.yaml": 404}
        statuses["/pictures/..%2f..%2f..%2fconfig%2frun.yaml"] = 404
        assert {path: httpx.get(viewed + path, timeout=60).status_code for path in statuses} == statuses
        assert httpx.get(f"{viewed}/index.html", headers={"host": "evil.example"}, timeout=60).status_code == 400
        assert '"all"' in httpx.get(f"{viewed}/static/mode.js", timeout=60).text
        port = viewed.rsplit(":", 1)[1].partition("/")[0]
        output = reported.punchline("view", "--no-browser", "--port", port, fails=True)
        assert f"port {port} of 127.0.0.1 cannot be used" in output


def test_view_without_a_report_and_a_wrong_word_for_pictures(small: Project) -> None:
    output = small.punchline("view", "--no-browser", fails=True)
    assert "no report" in output and "snakemake --cores all report" in output
    done = small.run("snakemake", "--cores", "1", "report", "--config", "pictures=everything", fails=True)
    assert "pictures" in done.stderr and "own" in done.stderr
