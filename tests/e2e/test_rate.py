"""People's votes, from `punchline rate new` through a real browser to an audited table; drafts to reviewed items."""

import hashlib
import json
import re
from collections import defaultdict
from statistics import mean

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from tests.servers.runs import KEY, Served

from punchline.rating.votes import Votes

from .conftest import add_served
from .project import Project

pytestmark = pytest.mark.long
CONFIG = "benchmarks=[pixelhumor] limit=6 models=[reading-order,hal-9000,deep-thought]"
SAID = {
    "hal-9000": "The second panel turns the first around. <script>document.title = 'run'</script>",
    "deep-thought": "<think>deep-thought speaking</think>An absurd twist; " + "nobody expects it " * 40,
}


def replayed(project: Project) -> None:
    """Two models with answers to question 6 of the demo comics."""
    comics = [row["comic_id"] for row in project.rows("data/raw/demo/pixelhumor/objective_label.csv")]
    for model, text in SAID.items():
        project.add_replay(model, {comic: {"Q6": text} for comic in comics})


def rate_all(page: Page, link: str, own: str) -> int:
    """One rater, by keyboard alone; how many pages."""
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    origin = link.split("/r/")[0]
    page.on("request", lambda request: None if request.url.startswith(origin) else wrong.append(request.url))
    page.goto(link)
    page.keyboard.press("Enter")
    page.wait_for_url("**/items/1")
    pages = 0
    while (here := page.url) != f"{origin}/":
        assert page.locator("img").evaluate("image => image.complete && image.naturalWidth > 100")
        visible = page.locator("blockquote").inner_text()
        check = re.search(r"choose (\d) here", visible)
        page.keyboard.press(check[1] if check else own)
        assert page.locator("input:checked").count() == 1
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, here=here: url != here)
        page.wait_for_load_state()
        pages += 1
    assert page.get_by_text("Thank you").count() == 1
    assert wrong == []
    return pages


def looks_well(browser: Browser, link: str) -> None:
    """Start and item pages, wide and narrow, light and dark: axe finds no violation, none is wider than the window."""
    for scheme, width in (("light", 390), ("dark", 1280)):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        for address in (link, link.split("/r/")[0] + "/items/1"):
            page.goto(address)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address
            result = Axe().run(page)
            assert result.violations_count == 0, result.generate_report()
        context.close()


def warns(browser: Browser, links: list[str]) -> None:
    """Raters are told of a missing choice, a choice that is not sent, a folded text, the link of another."""
    page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
    requests: list[str] = []
    page.on("dialog", lambda dialog: (requests.append(dialog.type), dialog.dismiss()))
    page.goto(links[0])
    items = f"{links[0].split('/r/')[0]}/items"
    page.goto(f"{items}/1")
    page.keyboard.press("Enter")
    assert page.locator("#wrong").inner_text() == "Nothing is saved yet: choose an answer."
    page.keyboard.press("3")
    page.locator("#on").click(no_wait_after=True)
    page.wait_for_timeout(300)
    assert requests == ["beforeunload"] and page.url == f"{items}/1" and page.locator("input:checked").count() == 1
    other = page.context.new_page()
    other.goto(links[1])
    folded = 0
    for place in range(3, 12):
        other.goto(f"{items}/{place}")
        if other.locator("button.more").count():
            folded += 1
            other.locator("button.more").click()
            assert other.locator(".folded, button.more").count() == 0
    assert folded == 4
    other.locator("summary", has_text="cannot judge").click()
    other.on("dialog", lambda dialog: (requests.append(dialog.type), dialog.dismiss()))
    other.keyboard.press("2")
    other.locator("[name=reason]").press("Control+Enter")
    assert requests[1:] == ["confirm"] and other.locator("input:checked").count() == 1
    page.context.close()


def test_from_links_to_an_audited_table(small: Project, browser: Browser) -> None:
    project = small
    replayed(project)
    project.snakemake("respond_all", config=CONFIG)
    output = project.execute("punchline rate new relevance --raters 2 --seed 3 --items 4 --port 8677")
    links = re.findall(r"http://\S+", output)
    with project.serving("rate", "serve", "relevance", "--port", "8677") as line:
        assert "votes go into it" in line
        looks_well(browser, links[0])
        warns(browser, links)
        for link, own in zip(links, "35", strict=True):
            context = browser.new_context(viewport={"width": 390, "height": 800})
            assert rate_all(context.new_page(), link, own) == 2 + 8 + 1  # practice, two texts of four comics, a check
            context.close()
    raters, (agreement,) = json.loads(project.punchline("rate", "status", "relevance", "--json"))
    assert [[rater[name] for name in ("rated", "of", "checks", "passed")] for rater in raters] == [[8, 8, 1, 1]] * 2
    assert (agreement["level"], agreement["rated by several"]) == ("interval", 8)
    (link,) = re.findall(r"http://\S+", project.punchline("rate", "new", "relevance", "--link", "2"))
    assert link.startswith("http://127.0.0.1:8643/r/") and link not in links

    project.punchline("rate", "export", "relevance")
    exported = project.rows("config/pixelhumor/ratings.csv")
    assert sorted((row["rater"], row["score"]) for row in exported) == [("1", "3")] * 8 + [("2", "5")] * 8
    table = "results/pixelhumor/table5.csv"
    project.snakemake(table, "results/pixelhumor/table6.csv", config=CONFIG)
    votes = defaultdict(list)
    for row in exported:
        votes[row["source"]].append(float(row["score"]))
    measured = {row["model"]: float(row["mean"]) for row in project.rows(table, kind="human") if row["model"] in SAID}
    assert measured == {name: mean(scores) for name, scores in votes.items()} == dict.fromkeys(SAID, 4.0)
    assert project.audit(table)["verdict"] == "equal"

    project.edit("config/pixelhumor/ratings.csv", ",3,", ",4,")  # one vote is another
    assert project.audit(table)["verdict"] != "equal"


def test_sheets_go_out_and_come_back(small: Project) -> None:
    replayed(small)
    small.snakemake("respond_all", config=CONFIG)
    small.punchline("rate", "new", "relevance", *(f"--model={model}" for model in SAID), "--sheet", "study")
    sheet = (small.path / "study/sheet.csv").read_text()
    assert len(small.rows("study/sheet.csv")) == 12 and not any(model in sheet for model in SAID)
    for rater, score in (("ann", "3"), ("bob", "5")):
        (small.path / f"study/{rater}.csv").write_text(sheet.replace(",\n", f",{score}\n"))
    output = small.punchline("rate", "import", "relevance", "study/ann.csv", "study/bob.csv", "--key", "study/key.csv")
    assert "config/pixelhumor/ratings.csv: 24 ratings by 2 raters" in output


OF_DRAFTS = "benchmarks=[stripcipher] models=[served] limit=8"
DRAW = ("rate", "new", "stripcipher", "--drafts", "served", "--raters", "2")
USES = ("answer", "distractor", "distractor", "distractor")


def review(project: Project, name: str, rater: str, answer: str) -> None:
    """Choose the first text of each page as the answer, in other words, and the next three as distractors."""
    votes = Votes(project.path / f"data/ratings/stripcipher/{name}.sqlite")
    for index in votes.seats(rater):
        texts = votes.sheet.units[index].texts
        assert len(texts) >= 4  # the server answers samples alike: raters write in empty boxes
        uses = {f"use-{n}": USES[n] if n < 4 else "" for n in range(len(texts))}
        words = {f"text-{n}": f"text {n}" if n else answer for n in range(len(texts))}
        votes.vote(rater, index, uses | words, "")


def test_drafts_are_reviewed_and_decided(fresh: Project, server: Served) -> None:
    project = add_served(fresh, server)
    server.script(key=KEY)
    assert "nothing is prepared yet" in project.punchline(*DRAW, fails=True)
    project.snakemake("prepare_all", config=OF_DRAFTS)
    assert "for stripcipher only" in project.punchline("rate", "new", "drafts", "--raters", "2", fails=True)
    assert "pages to review" in project.punchline(*DRAW)
    counts = server.get("/counts")
    project.punchline(*DRAW, "--name", "again")
    assert server.get("/counts") == counts  # journalled: not asked again

    for rater, answer in (("1", "An end"), ("2", "Another end")):
        review(project, "drafts", rater, answer)
    strips = project.path / "data/raw/demo/stripcipher/strips.json"
    export = ("--out", str(strips.relative_to(project.path)))
    assert "punchline rate new --decide stripcipher/drafts" in project.punchline("rate", "export", "drafts", *export)
    project.punchline("rate", "new", "--decide", "drafts")
    review(project, "drafts-decide", "3", "The end")
    project.punchline("rate", "export", "drafts-decide", *export)
    assert "pages to review" in project.punchline("rate", "new", "--verify", "drafts-decide", "--name", "check")
    texts = [strip["texts"] for strip in json.loads(strips.read_bytes())]
    assert all(one["prediction"]["answer"] == one["comprehension"]["answer"] == "The end" for one in texts)

    output = project.punchline("rate", "new", "stripcipher/people", "--raters", "1", "--items", "2")
    assert re.search(r"people.sqlite: \d+ pages to rate", output), output

    # The project's own manifest gets the digest of the written file.
    folder = project.path / "data/manifests/stripcipher"
    (folder / "strips.json").write_bytes(strips.read_bytes())
    project.punchline("rate", "export", "drafts-decide")
    digest = hashlib.sha256((folder / "strips.json").read_bytes()).hexdigest()
    assert digest in (folder / "annotations.csv").read_text()
