"""Sheets that people fill in."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from punchline.cli.base import app, given
from punchline.core import engine as engines
from punchline.core.errors import PunchlineError
from punchline.core.files import write_text
from punchline.core.storage import csv_text, parse_csv
from punchline.project.paths import DEFAULT_RUN, Paths, journal, manifest
from punchline.project.runs import making
from punchline.project.selection import read_card
from punchline.stages.fetch.manifests import ANNOTATION_COLUMNS

LABELLED = Path(Paths().raw("humorbench", "comprehensive_annotations.csv"))
STRIPS = Path(manifest("stripcipher", "strips.json"))


@app.command()
def labelled(
    labels: Annotated[
        Path, typer.Argument(parser=given, help="CSV: explanation, label, and annotation_row or caption, element")
    ],
    out: Annotated[Path, typer.Argument(parser=given, help="CSV for a card with engine: replay, format: humorbench")],
    annotations: Annotated[
        Path, typer.Option(parser=given, help="HumorBench's comprehensive_annotations.csv, once it is fetched")
    ] = LABELLED,
) -> None:
    """HumorBench: explanations that people labelled, as answers to replay: a judge's verdicts then meet the labels."""
    from punchline.benchmarks.humorbench.labels import as_released, read_labelled

    for file in (labels, annotations):
        if not file.is_file():
            raise PunchlineError("no such file", file=file, way_out="Fetch the benchmark's files: snakemake fetch")
    found = read_labelled(labels.read_bytes(), str(labels), annotations.read_bytes())
    write_text(out, as_released(found))
    explainers = sorted({one.explainer for one in found})
    print(f"{out}: {len(found):,} explanations by {', '.join(explainers)}")


@app.command()
def sheet(
    models: Annotated[list[str], typer.Argument(help="Models whose explanations are rated")],
    out: Annotated[Path, typer.Option(parser=given, help="Folder for sheet.csv and key.csv")],
    benchmark: Annotated[str, typer.Option(help="Whose answers")] = "pixelhumor",
    task: Annotated[str, typer.Option(help="The task that was answered")] = "Q6",
    condition: Annotated[str, typer.Option(help="The condition in which it was asked")] = "default",
    seed: Annotated[int, typer.Option(help="Of the order of the rows")] = 0,
) -> None:
    """A blinded sheet to rate explanations on: no model's name, rows in seeded order, and the key that unblinds it."""
    from punchline.bench.ratings import blinded
    from punchline.people.sheet import explanations

    found = explanations(Paths(), benchmark, task, models, condition)
    texts, key = blinded(found, seed)
    write_text(out / "sheet.csv", texts)
    write_text(out / "key.csv", key)
    print(f"{out}/sheet.csv: {len(found):,} explanations of {len(models)} models; keep {out}/key.csv from the raters")


@app.command()
def rated(
    sheets: Annotated[
        list[Path], typer.Argument(parser=given, help="Filled-in sheets, one a rater; a file's stem names its rater")
    ],
    key: Annotated[Path, typer.Option(parser=given, help="The key that was written with the sheet")],
    out: Annotated[Path, typer.Option(parser=given, help="The ratings file to write")] = Path(
        "config/pixelhumor/ratings.csv"
    ),
    replace: Annotated[bool, typer.Option("--replace", help="Write over a file that is there")] = False,
) -> None:
    """Filled-in sheets under their models' names, as the file that the tables of ratings read."""
    from punchline.bench.ratings import as_csv, read_ratings, unblinded

    if out.exists() and not replace:
        raise PunchlineError("the file is there already", file=out, way_out="Give --replace, or another --out")

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


@app.command()
def drafts(
    models: Annotated[list[str], typer.Argument(help="Models that draft answers and distractors")],
    out: Annotated[Path, typer.Option(parser=given, help="The review sheet to write")] = Path("review.csv"),
    seed: Annotated[int, typer.Option(help="Of the engine")] = 0,
) -> None:
    """StripCipher: ask models for drafts of the texts of the prepared strips, and write the sheet for their review."""
    from punchline.benchmarks.stripcipher import review
    from punchline.core.records import Item
    from punchline.core.storage import read_records
    from punchline.stages.infer import answer, image_files

    cards = [read_card(model) for model in models]
    prepared = Path(Paths().items("stripcipher"))
    if not prepared.is_file():
        way_out = f"Run {making(DEFAULT_RUN, 'prepare', benchmarks='[stripcipher]')} first"
        raise PunchlineError("no strip is prepared", file=prepared, way_out=way_out)
    items = read_records(prepared, Item)
    asked = [request for item in items for request in review.draft_requests(item)]
    if not asked:
        raise PunchlineError(
            "no strip has pictures", file=prepared, way_out="Run the target `prepare` with a model that looks at images"
        )
    pool: list[review.Draft] = []
    for model, card in zip(models, cards, strict=True):
        with closing(engines.load(card, seed)) as engine:
            said = answer(
                engine,
                asked,
                image_files(items),
                journal=journal("stripcipher", f"drafts/{model}"),
                label=f"drafts of {model}",
                key=engines.model_key(engine, card, "stripcipher"),
            )
        pool += review.drafts(asked, said, model)
    write_text(out, review.sheet(pool))
    print(f"{out}: {len(pool):,} drafts for {len({draft.item_id for draft in pool}):,} strips")


@app.command()
def reviewed(
    sheet: Annotated[Path, typer.Argument(parser=given, help="The sheet that people have filled in")] = Path(
        "review.csv"
    ),
    strips: Annotated[Path, typer.Option(parser=given, help="Where the accepted texts go")] = STRIPS,
) -> None:
    """StripCipher: put the texts that people accepted into strips.json, and its digest into the manifest beside it."""
    from punchline.benchmarks.stripcipher.review import reviewed as accepted
    from punchline.core.records import sha256

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
