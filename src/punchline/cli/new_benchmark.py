"""`punchline new-benchmark`: a benchmark from a CSV of questions and answers."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
import typer

from punchline import paths
from punchline.benchmarks.annotations import FILE_NAME, Filled, csv_table
from punchline.cli.base import app, given
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError, check_file
from punchline.fetch.images import decode_image
from punchline.fetch.log import Missing
from punchline.fetch.manifests import ANNOTATION_COLUMNS, PIN_COLUMNS
from punchline.fetch.resolvers import is_image
from punchline.files import csv_text, is_inside, write_bytes, write_text
from punchline.schema import sha256

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the new benchmark: small letters, digits, _")]
COLUMNS_HELP = "Columns id, question, answer, and optionally image, options, cluster"
Data = Annotated[str, typer.Argument(metavar="DATA.csv", help=COLUMNS_HELP)]
Outside = Annotated[bool, typer.Option("--outside", help="Take images from outside the CSV's folder, too")]
TEMPLATE = Path(__file__).with_name("benchmark.txt")
LICENCE = "none stated"
ASKED = {True: "{question}\n\n{options}\n\nAnswer with the letter of one option.\n", False: "{question}\n"}

Row = dict[str, str]


@app.command("new-benchmark", rich_help_panel="Run")
def new_benchmark(name: Name, data: Data, outside: Outside = False) -> None:
    """Write a benchmark from a CSV: its code in one file, prompt, manifest and one accuracy table.

    `image`: a file next to the CSV, or an address; `options`: texts separated by ` | `, the answer is then a letter;
    `cluster`: items that belong together, for the confidence intervals.

    Example: punchline new-benchmark puns puns.csv
    """
    if not re.fullmatch("[a-z][a-z0-9_]{0,39}", name):
        raise PunchlineError(f"{name!r} cannot name a benchmark", hint="Up to 40 small letters, digits and _")
    if name in benchmarks.names() or Path(paths.manifest(name)).exists():
        raise PunchlineError(f"there is a benchmark {name!r}", hint="Choose another name")
    package = benchmarks.FOLDER / name
    if not package.is_relative_to(Path.cwd()):
        raise PunchlineError("the project has no source code", file=package, hint="git clone it, and work in the clone")
    source = given(data)
    check_file(source, "no such file", hint=COLUMNS_HELP)
    rows = read_rows(source)
    for path, text in _texts(name, package.relative_to(Path.cwd()), source, rows, outside).items():
        write_text(path, text)
        print(path)
    print(f"{len(rows):,} questions. Try it with random answers, then with your model:")
    print(f"punchline run random --benchmark {name} --corpus full --run {name}")


def _texts(name: str, package: Path, source: Path, rows: list[Row], outside: bool) -> dict[str, str]:
    """Files of a benchmark by path; images are copied into its manifests. Raises PunchlineError."""
    pins = [_pin(name, source, row, outside) for row in rows if row["image"] and "://" not in row["image"]]
    content = csv_text([*rows[0]], rows)
    listed: dict[str, Any] = {"path": "questions.csv", "mirror": f"{name}/questions.csv", "licence": LICENCE}
    listed |= {"url": paths.manifest(name, "questions.csv"), "sha256": sha256(content.encode())}
    images, options = bool(rows[0]["image"]), bool(rows[0]["options"])
    yes_no = {row["answer"] for row in rows} <= {"Yes", "No"}
    code = Template(TEMPLATE.read_text()).substitute(name=name, images=images, options=options, yes_no=yes_no)
    return {
        paths.manifest(name, "questions.csv"): content,
        paths.manifest(name): csv_text(ANNOTATION_COLUMNS, [{**listed, "bytes": len(content.encode())}]),
        paths.manifest(name, "images_pinned.csv"): csv_text(PIN_COLUMNS, pins),
        str(package / "prompts/question.txt"): ASKED[options],
        str(package / "__init__.py"): code,
    }


class Question(msgspec.Struct):
    """A row of the CSV."""

    id: Annotated[str, msgspec.Meta(pattern=rf"^\s*{FILE_NAME.pattern}\s*$", title="a name for a file")]
    question: Filled
    answer: Filled
    image: str = ""
    options: str = ""
    cluster: str = ""


def read_rows(source: Path) -> list[Row]:
    """Checked rows of a CSV of questions. Raises PunchlineError naming the file, the record and the fix."""
    questions = csv_table({str(source): source.read_bytes()}, str(source), Question, key="id")
    rows = [{name: cell.strip() for name, cell in msgspec.structs.asdict(row).items()} for row in questions.values()]
    for row in rows:
        row["options"] = " | ".join(option.strip() for option in row["options"].split(" | ") if option.strip())
        if (problem := _problem(row, rows[0])) is not None:
            field, what, hint = problem
            raise PunchlineError(what, file=source, record=row["id"], field=field, hint=hint)
    if not rows:
        raise PunchlineError("no rows", file=source, hint=f"One question a row. {COLUMNS_HELP}")
    return rows


def _problem(row: Row, first: Row) -> tuple[str, str, str] | None:
    """(field, what is wrong, the fix) of a row; None where nothing is."""
    for column in ("options", "image"):
        if bool(row[column]) != bool(first[column]):
            return column, f"some rows have {column} and others have none", "Make two benchmarks of them"
    options = row["options"].split(" | ") if row["options"] else []
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(options)]
    if options and (len(options) < 2 or row["answer"] not in list(letters)):
        hint = "Write at least two options separated by ` | `, and the letter of the right one as the answer"
        return "answer", f"expected one of the letters {', '.join(letters)}, got {row['answer']!r}", hint
    image = row["image"]
    if "://" in image and not is_image(image) and urlsplit(image).scheme in ("http", "https"):
        return "image", f"not an image's address: {image}", "An address that ends in .png, .jpg, .gif or .webp"
    return None


def _pin(name: str, source: Path, row: Row, outside: bool) -> dict[str, Any]:
    """Copy the image of a row into the manifests; its line of images_pinned.csv. Raises PunchlineError."""
    file = source.parent / row["image"]
    if not (outside or is_inside(row["image"], source.parent)):
        hint = "Copy the image next to the CSV; --outside takes it from there"
        raise PunchlineError("not in the folder of the CSV", file=file, record=row["id"], field="image", hint=hint)
    try:
        content = file.read_bytes()
        image = decode_image(content)
    except (OSError, Missing) as error:
        what = f"not a readable image: {error}"
        raise PunchlineError(what, file=file, record=row["id"], field="image", hint="PNG, JPEG, GIF or WebP") from error
    place = paths.manifest(name, f"images/{row['id']}.{image.extension}")
    write_bytes(Path(place), content)
    row["image"] = place
    cells = {"comic_id": row["id"], "page_url": place, "image_url": place, "mirror": f"{name}/{Path(place).name}"}
    cells |= {"sha256": sha256(content), "licence": LICENCE, "credit": ""}
    return {**cells, "bytes": len(content), "width": image.width, "height": image.height}
