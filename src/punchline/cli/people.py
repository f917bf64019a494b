"""Sheets that people fill in."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from punchline.cli.base import app, given
from punchline.config.cards import read_card
from punchline.config.runs import making
from punchline.core import engine as engines
from punchline.errors import PunchlineError
from punchline.fetch.manifests import ANNOTATION_COLUMNS
from punchline.files import csv_text, parse_csv, write_text
from punchline.paths import DEFAULT_RUN, Paths, journal, manifest

LABELLED = Path(Paths().raw("humorbench", "comprehensive_annotations.csv"))
STRIPS = Path(manifest("stripcipher", "strips.json"))


@app.command(rich_help_panel="People")
def labelled(
    labels: Annotated[
        Path,
        typer.Argument(
            parser=given, help="CSV with the columns explanation, label, and annotation_row or caption, element"
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(parser=given, help="CSV to write, for a model card with engine: replay, format: humorbench"),
    ],
    annotations: Annotated[
        Path, typer.Option(parser=given, help="HumorBench's comprehensive_annotations.csv; fetch it first")
    ] = LABELLED,
) -> None:
    """HumorBench: turn human-labelled explanations into replayed answers, to compare a judge with the labels."""
    from punchline.benchmarks.humorbench.labels import as_released, read_labelled

    for file in (labels, annotations):
        if not file.is_file():
            raise PunchlineError("no such file", file=file, hint="Fetch the benchmark's files: snakemake fetch")
    found = read_labelled(labels.read_bytes(), str(labels), annotations.read_bytes())
    write_text(out, as_released(found))
    explainers = sorted({one.explainer for one in found})
    print(f"{out}: {len(found):,} explanations by {', '.join(explainers)}")


@app.command(rich_help_panel="People")
def sheet(
    models: Annotated[list[str], typer.Argument(help="Models whose explanations are to be rated")],
    out: Annotated[Path, typer.Option(parser=given, help="Folder to write sheet.csv and key.csv to")],
    benchmark: Annotated[str, typer.Option(help="Benchmark of the answers")] = "pixelhumor",
    task: Annotated[str, typer.Option(help="Task of the answers")] = "Q6",
    condition: Annotated[str, typer.Option(help="Condition of the answers")] = "default",
    seed: Annotated[int, typer.Option(help="Seed of the row order")] = 0,
) -> None:
    """Write a blinded rating sheet of explanations, in random order, and the key with the model names."""
    from punchline.people.sheet import explanations
    from punchline.tables.ratings import blinded

    found = explanations(Paths(), benchmark, task, models, condition)
    texts, key = blinded(found, seed)
    write_text(out / "sheet.csv", texts)
    write_text(out / "key.csv", key)
    print(f"{out}/sheet.csv: {len(found):,} explanations of {len(models)} models; keep {out}/key.csv from the raters")


@app.command(rich_help_panel="People")
def rated(
    sheets: Annotated[
        list[Path], typer.Argument(parser=given, help="Filled-in sheets, one per rater; the file name names the rater")
    ],
    key: Annotated[Path, typer.Option(parser=given, help="key.csv of the sheet")],
    out: Annotated[Path, typer.Option(parser=given, help="Ratings file to write")] = Path(
        "config/pixelhumor/ratings.csv"
    ),
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite an existing file")] = False,
) -> None:
    """Convert filled-in sheets into the ratings file that tables read."""
    from punchline.tables.ratings import as_csv, read_ratings, unblinded

    if out.exists() and not replace:
        raise PunchlineError("the file is there already", file=out, hint="Give --replace, or another --out")

    for file in (*sheets, key):
        if not file.is_file():
            raise PunchlineError("no such file", file=file)
    found = [
        rating
        for file in sheets
        for rating in unblinded(file.read_bytes(), key.read_bytes(), file.stem, sheet_file=str(file), key_file=str(key))
    ]
    text = as_csv(found)
    read_ratings(text.encode(), str(out))  # what the tables would refuse is refused here
    write_text(out, text)
    print(f"{out}: {len(found):,} ratings by {len(sheets)} raters")


@app.command(rich_help_panel="People")
def drafts(
    models: Annotated[list[str], typer.Argument(help="Models that write drafts of answers and distractors")],
    out: Annotated[Path, typer.Option(parser=given, help="Review sheet to write")] = Path("review.csv"),
    seed: Annotated[int, typer.Option(help="Seed of the model")] = 0,
) -> None:
    """StripCipher: let models draft texts for the prepared strips, and write a review sheet."""
    from punchline.benchmarks.stripcipher import review
    from punchline.files import read_records
    from punchline.respond import answered, image_files
    from punchline.schema import Item

    cards = [read_card(model) for model in models]
    prepared = Path(Paths().items("stripcipher"))
    if not prepared.is_file():
        hint = f"Run {making(DEFAULT_RUN, 'prepare', benchmarks='[stripcipher]')} first"
        raise PunchlineError("no strip is prepared", file=prepared, hint=hint)
    items = read_records(prepared, Item)
    asked = [request for item in items for request in review.draft_requests(item)]
    if not asked:
        raise PunchlineError(
            "no strip has pictures",
            file=prepared,
            hint="Run the target `prepare_all` with a model that looks at images",
        )
    pool: list[review.Draft] = []
    for model, card in zip(models, cards, strict=True):
        with closing(engines.load(card, seed)) as engine:
            key, label = engines.model_key(engine, card, "stripcipher"), f"drafts of {model}"
            drafts = journal("stripcipher", f"drafts/{model}")
            with answered(engine, asked, image_files(items), journal=drafts, key=key, label=label) as log:
                said = [log.read((request.request_id, key)) for request in asked]
        pool += review.drafts(asked, said, model)
    write_text(out, review.sheet(pool))
    print(f"{out}: {len(pool):,} drafts for {len({draft.item_id for draft in pool}):,} strips")


@app.command(rich_help_panel="People")
def reviewed(
    sheet: Annotated[Path, typer.Argument(parser=given, help="Filled-in review sheet")] = Path("review.csv"),
    strips: Annotated[Path, typer.Option(parser=given, help="File to write the accepted texts to")] = STRIPS,
) -> None:
    """StripCipher: write the accepted texts into strips.json and update its digest in the manifest."""
    from punchline.benchmarks.stripcipher.review import reviewed as accepted
    from punchline.schema import sha256

    for file in (sheet, strips):
        if not file.is_file():
            raise PunchlineError("no such file", file=file)
    text = accepted(strips.read_bytes(), sheet.read_bytes(), str(sheet))
    write_text(strips, text)
    listed = strips.with_name("annotations.csv")
    if listed.is_file():
        lines = [cells for _, cells in parse_csv(listed.read_bytes(), ANNOTATION_COLUMNS, file=listed)]
        for cells in lines:
            if cells["path"] == strips.name:
                cells |= {"sha256": sha256(text.encode()), "bytes": str(len(text.encode()))}
        write_text(listed, csv_text(ANNOTATION_COLUMNS, lines))
    print(f"{strips}: the texts of {sheet} are in it")
