"""`punchline new-benchmark`: a benchmark from a CSV of questions and answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Annotated, Any

import msgspec
import typer

from punchline import paths
from punchline.benchmarks.questions import Fault, Question, check_images, read_questions, unused_columns, warnings
from punchline.cli.base import app, given
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError, check_file
from punchline.fetch.annotations import read_local
from punchline.fetch.images import IMAGE_BYTES, decode_image
from punchline.fetch.log import Missing
from punchline.fetch.manifests import ANNOTATION_COLUMNS, PIN_COLUMNS
from punchline.fetch.resolvers import is_image
from punchline.fetch.web import parse_address
from punchline.files import csv_text, is_inside, write_bytes, write_text
from punchline.schema import sha256
from punchline.text import log_line

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the new benchmark: small letters, digits, _")]
COLUMNS_HELP = "Columns id, question, answer, and optionally image, options, cluster"
Data = Annotated[str, typer.Argument(metavar="DATA.csv", help=COLUMNS_HELP)]
Outside = Annotated[bool, typer.Option("--outside", help="Take images from outside the CSV's folder, too")]
Replace = Annotated[bool, typer.Option("--replace", help="Take new questions; code and prompts stay")]
TEMPLATE = Path(__file__).with_name("benchmark.txt")
QUESTIONS = "questions.csv"
LICENCE = "none stated"
# With and without options: a question may gain or lose its options by an edit.
PROMPTS = {"question": "{question}\n\n{options}\n\nAnswer with the letter of one option.\n", "open": "{question}\n"}


@app.command("new-benchmark", rich_help_panel="Run")
def new_benchmark(name: Name, data: Data, replace: Replace = False, outside: Outside = False) -> None:
    """Write a benchmark from a CSV: its code in one file, prompts, manifest and one accuracy table.

    `image`: a file next to the CSV, or an address; `options`: texts separated by ` | `, the answer is then a letter;
    `cluster`: items that belong together, for the confidence intervals.

    Example: punchline new-benchmark puns puns.csv
    """
    if not re.fullmatch("[a-z][a-z0-9_]{0,39}", name):
        raise PunchlineError(f"{name!r} cannot name a benchmark", hint="Up to 40 small letters, digits and _")
    package = benchmarks.FOLDER / name
    if not package.is_relative_to(Path.cwd()):
        raise PunchlineError("the project has no source code", file=package, hint="git clone it, and work in the clone")
    _check_name(name, replace)
    source = given(data)
    check_file(source, "no such file", hint=COLUMNS_HELP)
    rows, images = read_rows(source, outside)
    if replace:
        check_images(rows, name, benchmarks.load(name).IMAGES, str(source))
    for path, text in _texts(name, package.relative_to(Path.cwd()), rows, images, replace).items():
        write_text(path, text)
        print(path)
    for path, content in images.items():
        write_bytes(Path(paths.manifest(name, f"images/{path}")), content)
    for unused in unused_columns(source.read_bytes(), str(source)):
        log_line(f"warning: the column {unused} is not used")
    for warning in warnings(rows):
        log_line(f"warning: {warning}")
    print(f"{len(rows):,} questions. Try it with random answers, then with your model:")
    print(f"punchline run random --benchmark {name} --corpus full --run {name}")


def _check_name(name: str, replace: bool) -> None:
    """Raises PunchlineError for a name that is taken; with `replace`, for one that is no benchmark from a CSV."""
    if replace:
        hint = f"Without --replace: punchline new-benchmark {name} DATA.csv"
        check_file(paths.manifest(name, QUESTIONS), f"no questions of a benchmark {name!r} to replace", hint=hint)
    elif name in benchmarks.folders() or Path(paths.manifest(name)).exists():
        hint = "Choose another name; --replace takes new questions for a benchmark of your own"
        raise PunchlineError(f"there is a benchmark {name!r}", hint=hint)


def _texts(
    name: str, package: Path, rows: Sequence[Question], images: Mapping[str, bytes], replace: bool
) -> dict[str, str]:
    """Files of a benchmark by path; with `replace`, without the code and prompts that are there."""
    by_id = {row.id: row for row in rows}
    pins = []
    for file, image in images.items():
        place = paths.manifest(name, f"images/{file}")
        pins.append(_pin(name, place, image))
        by_id[Path(file).stem].image = place
    cells = [msgspec.structs.asdict(row) for row in rows]
    content = csv_text(Question.__struct_fields__, cells)
    listed: dict[str, Any] = {"path": QUESTIONS, "mirror": f"{name}/{QUESTIONS}", "licence": LICENCE}
    listed |= {"url": paths.manifest(name, QUESTIONS), "sha256": sha256(content.encode())}
    choices, answers = any(row.options for row in rows), {row.answer for row in rows if not row.options}
    code = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        name=name, images=bool(rows[0].image), choices=choices and not answers, yes_no=answers <= {"Yes", "No"}
    )
    own = {str(package / f"prompts/{prompt}.txt"): text for prompt, text in PROMPTS.items()}
    own[str(package / "__init__.py")] = code
    return {
        paths.manifest(name, QUESTIONS): content,
        paths.manifest(name): csv_text(ANNOTATION_COLUMNS, [{**listed, "bytes": len(content.encode())}]),
        paths.manifest(name, "images_pinned.csv"): csv_text(PIN_COLUMNS, pins),
        **{path: text for path, text in own.items() if not (replace and Path(path).exists())},
    }


def read_rows(source: Path, outside: bool) -> tuple[list[Question], dict[str, bytes]]:
    """(checked questions, bytes of their image files by name) of a CSV; `outside` its folder, too, if true.

    Raises PunchlineError with all its faults.
    """
    images: dict[str, bytes] = {}

    def image_faults(row: Question) -> Iterator[Fault]:
        if "://" in row.image:
            try:
                parse_address(row.image)
            except Missing as error:
                yield Fault("image", str(error), "An address begins with https:// or http://")
            if not is_image(row.image):
                hint = "An address that ends in .png, .jpg, .gif or .webp"
                yield Fault("image", f"not an image's address: {row.image}", hint)
        elif row.image and not (outside or is_inside(row.image, source.parent)):
            hint = "Copy the image next to the CSV; --outside takes it from there"
            yield Fault("image", f"not in the folder of the CSV: {row.image}", hint)
        elif row.image:
            try:
                content = read_local(source.parent / row.image, IMAGE_BYTES)
                images[f"{row.id}.{decode_image(content).extension}"] = content
            except Missing as error:
                yield Fault("image", f"not a readable image: {row.image}: {error}", "PNG, JPEG, GIF or WebP")

    return read_questions(source.read_bytes(), str(source), image_faults), images


def _pin(name: str, place: str, content: bytes) -> dict[str, Any]:
    """The line of images_pinned.csv of an image in the manifests."""
    image = decode_image(content)
    cells = {"comic_id": Path(place).stem, "page_url": place, "image_url": place}
    cells |= {"mirror": f"{name}/{Path(place).name}", "sha256": sha256(content), "licence": LICENCE, "credit": ""}
    return {**cells, "bytes": len(content), "width": image.width, "height": image.height}
