"""What the report costs at full size, and how soon its pages can be used.

    .venv/bin/python benchmarks/report.py [--comics 2800] [--models 50] [--keep FOLDER]

PixelHumor, made-up comics without pictures, replayed answers; built by the real Snakefile after all tables, then once
more with nothing changed, then with one more model. Pages are opened from the folder in Chromium. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from scale import MB, Measured, measure  # noqa: E402
from tables import LAST, prepared  # noqa: E402

STAGES = ("report_items", "report_answers", "report")


def opened(page: Page, address: str, ready: str) -> float:
    """Seconds until a page shows its data, the best of three."""
    times = []
    for _ in range(3):
        page.goto("about:blank")
        started = time.perf_counter()
        page.goto(address)
        page.wait_for_selector(ready)
        times.append(time.perf_counter() - started)
    return min(times)


def pages(root: Path) -> dict[str, float]:
    """Seconds until each kind of page can be used."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        shown = "body[data-ready]"
        found = {
            "start": opened(page, f"{root.as_uri()}/index.html", "th[role=columnheader]"),
            "wall": opened(page, f"{root.as_uri()}/wall/pixelhumor.html", shown),
        }
        address = str(page.locator(".wall a").nth(40).get_attribute("href"))
        found["item"] = opened(page, f"{root.as_uri()}/wall/{address}", shown)
        found["compare"] = opened(page, f"{root.as_uri()}/compare.html", shown)
        browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--comics", type=int, default=2800)
    parser.add_argument("--keep", type=Path, help="an empty folder to work in and leave as it is")
    args = parser.parse_args()
    base = args.keep or Path(tempfile.mkdtemp(prefix="punchline-report-"))
    names = [f"model{number:02}" for number in range(args.models)]
    try:
        project, mirror = prepared(base, args.comics, [*names, LAST])
        environment = project.environment | {"PYTHONPYCACHEPREFIX": str(base / "bytecode")}

        def run(target: str, *models: str) -> Measured:
            chosen = ["corpus=full", f"mirror={mirror}", f"models=[{','.join(models)}]"]
            command = [sys.executable, "-m", "snakemake", "--cores", str(os.cpu_count() or 1), target, "--config"]
            return measure([[*command, *chosen]], cwd=project.path, env=environment, logs=[base / "log"])

        run("all_tables", *names)
        root = project.path / "results" / "report"
        runs = {f"{args.models} models": run("report", *names)}
        size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
        runs["nothing changed"] = run("report", *names)
        seconds = pages(root)
        run("all_tables", *names, LAST)
        runs["one more model"] = run("report", *names, LAST)
    finally:
        if not args.keep:
            shutil.rmtree(base)
    print(f"\n{args.comics:,} comics\n\n| building | s | CPU s | peak MB of the tree | answers, CPU s | pages, CPU s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for what, of in runs.items():
        own = " | ".join(f"{of.stages[stage][1]:.0f}" for stage in STAGES[1:])
        print(f"| {what} | {of.wall:.0f} | {of.cpu:.0f} | {of.tree / MB:,.0f} | {own} |")
    print(f"\n{size / MB:,.0f} MB without pictures. Until a page can be used, seconds: ", end="")
    print(", ".join(f"{name} {value:.2f}" for name, value in seconds.items()) + ".")


if __name__ == "__main__":
    main()
