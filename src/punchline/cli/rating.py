"""`punchline rate`: pages on which people rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from punchline.cli.base import RUN, app, as_table, given
from punchline.config.runs import made_with
from punchline.errors import PunchlineError, nearest
from punchline.files import write_text
from punchline.paths import DEFAULT_RUN, VOTES, Paths
from punchline.paths import votes as votes_file

if TYPE_CHECKING:
    from punchline.people.votes import Votes

rate = typer.Typer(no_args_is_help=True, help="Rating studies: draw, serve to raters, follow, export.")
app.add_typer(rate, name="rate", rich_help_panel="People")

PORT = 8643
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study, as printed by `rate new`")]
Host = Annotated[str, typer.Option(help="Address of this machine in the local network; 0.0.0.0: all addresses")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="Port of the rating pages")]


def _votes(name: str) -> Votes:
    """A study by benchmark/name, or by its name alone. Raises PunchlineError."""
    from punchline.people.votes import Votes

    there = {path.relative_to(VOTES).with_suffix("").as_posix(): path for path in Path(VOTES).glob("*/*.sqlite")}
    of = [full for full in there if name in (full, full.partition("/")[2])]
    if len(of) != 1:
        raise PunchlineError(f"no study {name!r} has been made", hint=nearest(name, there))
    return Votes(there[of[0]])


def _reachable(host: str) -> None:
    if host in ("0.0.0.0", "::"):
        hint = "Give the address under which raters reach this machine; `rate serve` takes 0.0.0.0"
        raise PunchlineError(f"nobody can open a link to {host}", hint=hint)


def _say_links(votes: Votes, raters: list[str], host: str, port: int) -> None:
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    print("One link per rater. It is shown only once, and whoever has it votes as that rater:")
    for rater in raters:
        print(f"  {rater}  {address}/r/{votes.new_secret(rater)}")


@rate.command()
def new(
    study: Annotated[str, typer.Argument(help="Kind of study, from docs/ratings.md: pixelhumor/relevance")],
    raters: Annotated[int, typer.Option(min=1, max=1000, help="Number of raters")],
    seed: Annotated[int, typer.Option(help="Seed of the items, their assignment to raters, and their order")] = 0,
    overlap: Annotated[int | None, typer.Option(help="Raters per text; default: as in the paper")] = None,
    items: Annotated[int | None, typer.Option(min=1, help="Number of items; default: all")] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="Model to rate, may be repeated; default: all models of the run")
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(parser=given, help="CSV of human-written texts to rate as well: item_id, source, text"),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the study; default: the name of its kind")] = None,
    host: Host = "127.0.0.1",
    port: Port = PORT,
    run: RUN = DEFAULT_RUN,
) -> None:
    """Draw a study from the answers of a run, and print a link per rater."""
    from punchline.people.drawing import declared, draw_up
    from punchline.people.votes import Votes

    _reachable(host)
    benchmark, declaration, _ = declared(study)
    called = declaration if name is None else name
    if not called.replace("-", "").replace("_", "").isalnum():
        raise PunchlineError(f"{called!r} is no name", hint="Take letters, digits, - and _")
    if texts is not None and not texts.is_file():
        raise PunchlineError("no such file", file=texts)
    sheet, seats = draw_up(
        Paths(run=run),
        study,
        model or made_with(run).models,
        raters=raters,
        seed=seed,
        overlap=overlap,
        items=items,
        texts=(str(texts), texts.read_bytes()) if texts is not None else None,
    )
    votes = Votes.make(votes_file(benchmark, called), sheet, seats)
    kinds = [unit.kind for unit in sheet.units]
    most = max(len(own) for own in seats.values())
    if items is not None and (there := len({unit.item_id for unit in sheet.units if unit.kind == "counts"})) < items:
        print(f"--items {items:,}: only {there:,} items have something to rate")
    pages = f"{kinds.count('counts'):,} pages to {'write' if sheet.writing else 'rate'}"
    print(f"{votes.path}: {pages}, up to {most:,} a rater, sheet {votes.version}")
    if "practice" not in kinds:
        print("No item is left over to practise on: for that draw fewer, --items")
    _say_links(votes, list(seats), host, port)
    print(f"Serve them: punchline rate serve {benchmark}/{called}")


@rate.command()
def drafts(
    raters: Annotated[int, typer.Option(min=1, max=1000, help="Number of reviewers")],
    sheet: Annotated[Path, typer.Argument(parser=given, help="Review sheet of `punchline drafts`")] = Path(
        "review.csv"
    ),
    seed: Annotated[int, typer.Option(help="Seed of the assignment")] = 0,
    name: Annotated[str, typer.Option(help="Name of the study")] = "drafts",
    host: Host = "127.0.0.1",
    port: Port = PORT,
    run: RUN = DEFAULT_RUN,
) -> None:
    """StripCipher: draw a study in which people choose and correct drafted texts."""
    from punchline.people.drafts import draw_up
    from punchline.people.votes import Votes

    _reachable(host)
    if not sheet.is_file():
        raise PunchlineError("no such file", file=sheet, hint="Make it: punchline drafts MODEL")
    content, seats = draw_up(Paths(run=run), str(sheet), sheet.read_bytes(), raters=raters, seed=seed)
    votes = Votes.make(votes_file("stripcipher", name), content, seats)
    print(f"{votes.path}: {len(content.units):,} pages, each strip with one reviewer, sheet {votes.version}")
    _say_links(votes, list(seats), host, port)
    print(f"Serve them: punchline rate serve stripcipher/{name}")


@rate.command()
def links(
    study: StudyName,
    raters: Annotated[list[str] | None, typer.Argument(help="Raters; default: all")] = None,
    host: Host = "127.0.0.1",
    port: Port = PORT,
) -> None:
    """Replace lost links; the old links stop working, votes are kept."""
    _reachable(host)
    votes = _votes(study)
    there = votes.raters()
    for rater in raters or ():
        if rater not in there:
            raise PunchlineError(f"no rater {rater!r}", hint=nearest(rater, there))
    _say_links(votes, raters or there, host, port)


@rate.command()
def serve(study: StudyName, host: Host = "127.0.0.1", port: Port = PORT) -> None:
    """Serve a study to its raters until Ctrl-C, on this machine or, with --host, in the local network."""
    from punchline.people import pages
    from punchline.report.serve import listen
    from punchline.report.serve import serve as listen_on

    votes = _votes(study)
    votes.check_writable()
    hosts = ["*"] if host in ("0.0.0.0", "::") else [host, "127.0.0.1", "localhost"]
    served = pages.application(votes, hosts)
    listening = listen(
        host, port, f"End what has it, or name another: --port N, and punchline rate links {votes.name} --port N"
    )
    print(f"{votes.path}: votes go into it; http://{host}:{port} with each rater's link (Ctrl-C ends it)", flush=True)
    listen_on(served, listening)


@rate.command()
def status(study: StudyName) -> None:
    """Print the progress of each rater and their agreement."""
    from punchline.people import outcome

    votes = _votes(study)
    done = outcome.progress(votes)
    rows = [(p.rater, f"{p.rated} of {p.of}", f"{p.passed} of {p.checks}", p.last or "-") for p in done]
    print(f"{votes.path}: {votes.sheet.title} Sheet {votes.version}\n")
    print(as_table(rows, ("rater", "rated", "checks passed", "last vote")))
    if votes.sheet.drafts or votes.sheet.writing:
        return
    agreed = [
        (
            " ".join(part for part in (a.task, a.aspect) if part) or "-",
            a.level,
            a.units,
            "-" if a.alpha is None else f"{a.alpha:.3f}",
            "-" if a.lo is None else f"{a.lo:.3f} to {a.hi:.3f}",
        )
        for a in outcome.agreement(votes)
    ]
    print("\n" + as_table(agreed, ("question", "level", "rated by several", "Krippendorff's alpha", "95 %")))


@rate.command()
def decide(study: StudyName, host: Host = "127.0.0.1", port: Port = PORT) -> None:
    """Add a rater who decides ties among the others."""
    from punchline.people.decide import one_more

    _reachable(host)
    votes = _votes(study)
    rater, count = one_more(votes)
    print(f"{votes.path}: rater {rater} decides {count:,} pages that those before are even on")
    _say_links(votes, [rater], host, port)


@rate.command()
def export(
    study: StudyName,
    out: Annotated[
        Path | None, typer.Option(parser=given, help="File to write; default: the file that tables read")
    ] = None,
) -> None:
    """Write the votes, with model names, into the file that tables read."""
    from punchline.people import outcome

    votes = _votes(study)
    if votes.sheet.drafts:
        from punchline.people.drafts import reviewed_sheet

        out = out or Path("reviewed.csv")
        write_text(out, reviewed_sheet(votes))
        print(f"{out}: take it over with punchline reviewed {out}")
        return
    out = out or outcome.target(votes)
    rows, kept = outcome.export(votes, out)
    beside = f"; {kept:,} rows that were there stay" if kept else ""
    print(f"{out}: {rows:,} rows of sheet {votes.version}{beside}")
    failed = [p.rater for p in outcome.progress(votes) if p.passed < p.checks]
    if failed:
        print(f"Raters {', '.join(failed)} did not pass every attention check; their votes are in it")
    if votes.sheet.writing:
        print(f"Have them rated, by others: punchline rate new STUDY --raters N --texts {out}")
        return
    tables = ", ".join(f"{votes.sheet.benchmark}/{table}" for table in outcome.study_of(votes).feeds)
    print(f"Tables that read it: {tables}")
