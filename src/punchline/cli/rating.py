"""`punchline rate`: rating studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from punchline.cli.base import JSON, RUN, app, given, print_rows
from punchline.config.runs import selection_of
from punchline.errors import PunchlineError, check_file, check_known, nearest
from punchline.files import write_text
from punchline.paths import VOTES, Paths
from punchline.paths import votes as votes_file
from punchline.text import escape_controls

if TYPE_CHECKING:
    from punchline.benchmarks.study import Study
    from punchline.rating.votes import Seats, Sheet, Votes

rate = typer.Typer(no_args_is_help=True, help="Rating studies: draw, serve to raters, follow, export, import.")
app.add_typer(rate, name="rate", rich_help_panel="People")

FETCH = "Fetch it: snakemake fetch_all --config corpus=full benchmarks=[humorbench]"
EVERYWHERE = ("0.0.0.0", "::")
LABELS = Path(Paths().raw("humorbench", "comprehensive_annotations.csv"))
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study, as printed by `rate new`")]
Out = Annotated[Path | None, typer.Option(parser=given, help="File to write; default: the one tables read")]
Host = Annotated[str, typer.Option(help="Address of this machine in the local network; 0.0.0.0: all addresses")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="Port of the rating pages")]
POINTERS = "PixelHumor: require reasons where fewer than two points are ticked"
VERIFY = "StripCipher: one more rater for a tenth of its accepted drafts"
KIND = "Kind of study, from docs/ratings.md: pixelhumor/relevance, stripcipher"


def _votes(name: str) -> Votes:
    """A study by benchmark/name, or by its name alone. Raises PunchlineError."""
    from punchline.rating.votes import Votes

    there = {path.relative_to(VOTES).with_suffix("").as_posix(): path for path in Path(VOTES).glob("*/*.sqlite")}
    matches = [full for full in there if name in (full, full.partition("/")[2])]
    if len(matches) != 1:
        raise PunchlineError(f"no study {name!r} has been made", hint=nearest(name, there))
    return Votes(there[matches[0]])


def _print_links(votes: Votes, raters: list[str], host: str, port: int) -> None:
    """Print new links of some raters, or of `all`. Raises PunchlineError for an unknown one."""
    known = votes.raters()
    for rater in raters:
        check_known(rater, (*known, "all"), f"no rater {rater!r}")
    print("One link per rater. It is shown only once, and whoever has it votes as that rater:")
    for rater in known if "all" in raters else raters:
        print(f"  {rater}  http://{f'[{host}]' if ':' in host else host}:{port}/r/{votes.new_secret(rater)}")


def _make(benchmark: str, name: str, drawn: tuple[Sheet, Seats], host: str, port: int) -> None:
    """Write a study and print the links of its raters. Raises PunchlineError."""
    from punchline.rating.votes import Votes

    if not name.replace("-", "").replace("_", "").isalnum():
        raise PunchlineError(f"{name!r} is no name", hint="Take letters, digits, - and _")
    sheet, seats = drawn
    votes = Votes.make(votes_file(benchmark, name), sheet, seats)
    kinds = [unit.kind for unit in sheet.units]
    most, work = max(map(len, seats.values())), "review" if sheet.form == "review" else "rate"
    print(f"{votes.path}: {kinds.count('counts'):,} pages to {work}, up to {most:,} a rater, sheet {votes.version}")
    _print_links(votes, list(seats), host, port)
    print(f"Serve them: punchline rate serve {votes.name}")


@rate.command()
def new(
    study: Annotated[str, typer.Argument(help=KIND)] = "",
    raters: Annotated[int | None, typer.Option(min=1, max=1000, help="Raters; default: as many as per page")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the items, their assignment to raters, and their order")] = 0,
    overlap: Annotated[int | None, typer.Option(min=1, help="Raters per page; default: as in the paper")] = None,
    items: Annotated[int | None, typer.Option(min=1, help="Number of items; default: all")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Model to rate; default: all models of the run")] = None,
    drafts: Annotated[list[str] | None, typer.Option(help="StripCipher: model that drafts texts to review")] = None,
    sheet: Annotated[Path | None, typer.Option(parser=given, help="Folder for a sheet and its key, no pages")] = None,
    agreed: Annotated[bool, typer.Option("--agreed", help="PixelHumor: only comics on which annotators agree")] = False,
    pointers: Annotated[bool, typer.Option("--pointers", help=POINTERS)] = False,
    decide: Annotated[str, typer.Option(metavar="STUDY", help="One more rater for even votes of this study")] = "",
    verify: Annotated[str, typer.Option(metavar="STUDY", help=VERIFY)] = "",
    link: Annotated[list[str] | None, typer.Option(help="Replace the link of this rater of STUDY, or all")] = None,
    name: Annotated[str, typer.Option(help="Name of the study; default: the name of its kind")] = "",
    host: Host = "127.0.0.1",
    port: Port = 8643,
    run: RUN = "",
) -> None:
    """Draw a study from the answers of a run, and print a link per rater.

    Example: punchline rate new pixelhumor/relevance --raters 3 --items 20
    """
    from punchline.rating.draw import declared, draw_decision, draw_up

    if host in EVERYWHERE:
        hint = "Give the address under which raters reach this machine; `rate serve` takes 0.0.0.0"
        raise PunchlineError(f"nobody can open a link to {host}", hint=hint)
    if link:
        return _print_links(_votes(study), link, host, port)
    if decide or verify:
        votes = _votes(decide or verify)
        name = name or f"{votes.path.stem}-{'verify' if verify else 'decide'}"
        return _make(votes.sheet.benchmark, name, draw_decision(votes, verify=bool(verify)), host, port)
    benchmark, kind, declaration = of = declared(study)
    if declaration.reviews != bool(drafts):
        raise PunchlineError("--drafts names the models that draft texts, for stripcipher only")
    models, where = drafts or model or selection_of(run).models, Paths(run=run)
    if sheet is not None:
        return _write_sheet(where, benchmark, declaration, models, sheet, seed)
    chosen: dict[str, Any] = {"raters": raters or overlap or declaration.overlap, "overlap": overlap, "items": items}
    drawn = draw_up(where, of, models, **chosen, seed=seed, agreed=agreed, pointers=pointers)
    return _make(benchmark, name or kind, drawn, host, port)


def _write_sheet(where: Paths, benchmark: str, study: Study, models: list[str], folder: Path, seed: int) -> None:
    from punchline.rating.texts import answer_texts, blinded, prepared_items

    items = prepared_items(where, benchmark)
    texts = answer_texts(where, benchmark, study, models)
    blind, key = blinded(study, texts, items, seed)
    write_text(folder / "sheet.csv", blind)
    write_text(folder / "key.csv", key)
    print(f"{folder}/sheet.csv: {len(texts):,} texts of {len(models)} models; keep {folder}/key.csv from the raters")


@rate.command()
def serve(study: StudyName, host: Host = "127.0.0.1", port: Port = 8643) -> None:
    """Serve a study to its raters until Ctrl-C, on this machine or, with --host, in the local network.

    Example: punchline rate serve relevance
    """
    from punchline.rating.outcome import study_of
    from punchline.rating.pages import application
    from punchline.report.serve import listen
    from punchline.report.serve import serve as listen_on

    votes = _votes(study)
    study_of(votes)  # refuses a study of an older version that is declared no more
    votes.check_writable()
    hint = f"Stop its program, or use --port N with new links: punchline rate new {votes.name} --link all --port N"
    listening = listen(host, port, hint)
    print(f"{votes.path}: votes go into it; http://{host}:{port} with each rater's link (Ctrl-C ends it)", flush=True)
    listen_on(application(votes, ["*"] if host in EVERYWHERE else [host, "127.0.0.1", "localhost"]), listening)


@rate.command()
def status(study: StudyName, as_json: JSON = None) -> None:
    """Print the progress of each rater, and their agreement: Krippendorff's alpha with a 95 % interval.

    Example: punchline rate status relevance
    """
    from punchline.rating import outcome

    votes = _votes(study)
    if as_json is None:
        print(f"{votes.path}: {votes.sheet.title} Sheet {votes.version}\n")
    print_rows(outcome.progress(votes), outcome.agreement(votes), as_json=as_json)


@rate.command()
def export(study: StudyName, out: Out = None) -> None:
    """Write the votes, with model names, into the file that tables read; accepted drafts into strips.json.

    Example: punchline rate export relevance
    """
    from punchline.rating import drafts, outcome

    votes = _votes(study)
    out = out or outcome.target(votes)
    if votes.sheet.form == "review":
        accepted, even = drafts.export(votes, out)
        print(f"{out}: {accepted:,} accepted pages, {drafts.unchanged(votes):,} of them as shown")
        if even:
            print(f"{even:,} pages with even votes are not in it: punchline rate new --decide {votes.name}")
        return
    rows, others = outcome.export(votes, out)
    print(f"{out}: {rows:,} rows of sheet {votes.version}" + f"; {others:,} other rows stay" * bool(others))
    failed = [row["rater"] for row in outcome.progress(votes) if row["passed"] < row["checks"]]
    if failed:
        print(f"Raters {', '.join(failed)} did not pass every attention check; their votes are in it")
    if skipped := outcome.not_judged(votes):
        reasons = "; ".join(f"{reason} ({n:,})" for reason, n in skipped.most_common())
        print(f"Not in it: {skipped.total():,} pages that raters could not judge: {escape_controls(reasons)}")
    tables = ", ".join(f"{votes.sheet.benchmark}/{table}" for table in outcome.study_of(votes).feeds)
    print(f"Tables that read it: {tables}")


@rate.command("import")
def import_command(
    study: Annotated[str, typer.Argument(help=KIND)],
    files: Annotated[list[Path], typer.Argument(parser=given, help="Filled-in sheets, or CSVs of HumorBench labels")],
    key: Annotated[Path | None, typer.Option(parser=given, help="key.csv of the sheets; the files name raters")] = None,
    out: Out = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite an existing file")] = False,
) -> None:
    """Convert filled-in sheets into ratings, or explanations that people labelled into answers to replay.

    Example: punchline rate import pixelhumor/relevance sheet.csv --key key.csv
    """
    from punchline.benchmarks.humorbench.labels import as_released, read_labelled
    from punchline.paths import own
    from punchline.rating.draw import declared
    from punchline.rating.texts import unblinded
    from punchline.tables.ratings import as_csv, read_ratings

    benchmark, _, declaration = declared(study)
    if (out if benchmark == "humorbench" else key) is None:
        raise PunchlineError("no file is named", hint="--out FILE.csv for labels, --key key.csv for sheets of ratings")
    out = out or Path(own(benchmark, declaration.file))
    if out.exists() and not replace:
        raise PunchlineError("the file exists", file=out, hint="Give --replace, or another --out")
    for file in (*files, key or LABELS):
        check_file(file, "no such file", hint=FETCH if file == LABELS else None)
    if key is None:
        rows = [one for file in files for one in read_labelled(file.read_bytes(), str(file), LABELS.read_bytes())]
        what = f"explanations by {', '.join(sorted({one.explainer for one in rows}))}"
        text, count = as_released(rows), len(rows)
    else:
        ratings = [rating for file in files for rating in unblinded(file, key)]
        text, what, count = as_csv(ratings), f"ratings by {len(files)} raters", len(ratings)
        read_ratings(text.encode(), str(out))  # refuses what tables would refuse
    write_text(out, text)
    print(f"{out}: {count:,} {what}")
