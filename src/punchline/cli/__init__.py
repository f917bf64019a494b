"""`punchline`: audit, compare, restore, and what there is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from tabulate import tabulate

from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core.benchmark import names as benchmark_names
from punchline.core.errors import PunchlineError, nearest
from punchline.core.storage import csv_text, parse_csv, write_text
from punchline.project.hops import CHAINED
from punchline.project.lineage import Lineage
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN, RUNS, Paths, journal, manifest
from punchline.project.runs import made_with
from punchline.project.selection import named_run, read_card, read_selection, stems
from punchline.stages.cost import PLAN
from punchline.stages.fetch.manifests import ANNOTATION_COLUMNS

LABELLED = Path(Paths().raw("humorbench", "comprehensive_annotations.csv"))
STRIPS = Path(manifest("stripcipher", "strips.json"))
SELECTION = "As snakemake --config: benchmarks=all models=[a,b] judge=c"

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)


def main() -> None:
    """Entry point: an error that the user can act on is one message and status 2."""
    try:
        app()
    except PunchlineError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


@app.callback()
def root(
    root: Annotated[Path, typer.Option(help="The project's root: where Snakefile and config/ lie.")] = Path(),
) -> None:
    """All paths are relative to the project's root."""
    if not (root / "Snakefile").is_file():
        raise PunchlineError(
            f"no Snakefile in {root.resolve()}", way_out="Go to the project's root, or name it: --root"
        )
    os.chdir(root)


def _snakemake(*arguments: str, **environment: str) -> int:
    command = [sys.executable, "-m", "snakemake", "--cores", "all", *arguments]
    return subprocess.run(command, env=os.environ | environment, check=False).returncode


RUN = Annotated[str, typer.Option(help="A named run; else the default one")]


@app.command("audit")
def audit_command(
    table: Annotated[str, typer.Argument(help="A path, results/table8.csv, or just table8")],
    row: Annotated[str | None, typer.Option(help="Only this row: a model, or a whole row name")] = None,
    column: Annotated[str | None, typer.Option(help="Only this column")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: verdict, root, files, cells, findings")] = False,
    expect: Annotated[str | None, typer.Option(help="The root digest that was published or committed")] = None,
    run: RUN = DEFAULT_RUN,
) -> None:
    """Walk a table back to the raw bytes and make it again; status 1 when anything differs."""
    from punchline.audit import audit

    found = audit.audit(table_path(table, run), expect=expect)
    cells = []
    if found.lineage is not None:
        chosen = row is not None or column is not None
        cells = audit.cells_of(found.lineage, row, column) if chosen else found.lineage.cells
        if not chosen and not as_json:
            cells = []  # all of them would hide the verdict
    print(json.dumps(audit.as_json(found, cells), indent=1) if as_json else audit.as_text(found, cells))
    raise typer.Exit(0 if found.verdict == "equal" else 1)


def run_of(name: str) -> str:
    """The named run that a path lies in; "" for another path or a name."""
    parts, folder = Path(name).parts, Path(RUNS[1]).parts
    return parts[len(folder)] if parts[: len(folder)] == folder and len(parts) > len(folder) else ""


def table_path(name: str, run: str = DEFAULT_RUN) -> str:
    """The CSV of a table that is named by path or by name. Of several tables of one name, the run's own benchmark's."""
    run = run_of(name) or run
    where, chosen = Paths(run=run), made_with(run).benchmarks
    paths = {where.table(t.file): (b, t.name) for b in benchmark_names() for t in benchmarks.load(b).TABLES.values()}
    path = Path(name)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    if path.as_posix() in paths:
        return path.as_posix()
    of = [target for target, (benchmark, table) in paths.items() if name in (table, f"{benchmark}/{table}")]
    if len(of) > 1:
        of = [target for target in of if paths[target][0] in chosen] or of
    if len(of) > 1:
        raise PunchlineError(f"several benchmarks have a {name}", way_out=f"Say which: {', '.join(of)}")
    if of:
        return of[0]
    raise PunchlineError(f"no table {name!r}", way_out=nearest(name, [*paths, *(t for _, t in paths.values())]))


@app.command("print")
def print_command(
    table: Annotated[str, typer.Argument(help="A path, results/table8.csv, or just table8")], run: RUN = DEFAULT_RUN
) -> None:
    """Print a table, and where to look next."""
    from punchline.audit.state import again, check_shown, table_states

    path = table_path(table, run)
    run = run_of(path) or run
    text = Path(path).with_suffix(".md")
    if not text.is_file():
        raise PunchlineError(f"no {text}", way_out=f"Make it first: snakemake --cores all {path}")
    check_shown(path)
    states = {state.path: state for state in table_states(Project(made_with(run)))}
    print(text.read_text(encoding="utf-8"))
    if path in states and states[path].reason:
        print(f"STALE: {states[path].reason}; {again(path)}", file=sys.stderr)
    print(f"{path}: the same with every digit; .md, .tex and .lineage.json lie beside it")
    print(f"punchline audit {path}: where each number comes from, made again from the raw bytes")
    print("punchline tables | models | show ID: what else there is; README.md: real data and your own models")


@app.command("compare")
def compare_command(
    a: Annotated[str, typer.Argument(metavar="MODEL", help="A model that has grades")],
    b: Annotated[str, typer.Argument(metavar="MODEL", help="Another")],
    table: Annotated[
        str | None, typer.Option(help="A path, results/table8.csv, or just table8; else each benchmark's main table")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of comparisons")] = False,
    run: RUN = DEFAULT_RUN,
) -> None:
    """Two models on the items that both answered: differences, intervals, tests, effect sizes."""
    from punchline.audit import compare

    made, refused = compare.compare_models((a, b), None if table is None else table_path(table, run), run)
    if as_json:
        print(json.dumps([compare.as_json(one) for one in made], indent=1, ensure_ascii=False))
    else:
        print("\n\n".join(compare.as_text(one) for one in made))
    for why in refused:
        print(f"not compared: {why}", file=sys.stderr)
    raise typer.Exit(1 if refused else 0)


@app.command()
def restore(
    pull: Annotated[bool, typer.Option(help="Run `dvc pull` first")] = True,
) -> None:
    """`dvc pull`, and say whether every table is current; refuses when `dvc status` is not clean."""
    if not Path("dvc.lock").is_file():
        raise PunchlineError(
            "no dvc.lock: nothing was ever recorded",
            way_out="Run `dvc repro`, or clone a project whose dvc.lock is committed",
        )
    dvc = [sys.executable, "-m", "dvc"]
    if pull and subprocess.run([*dvc, "pull"], check=False).returncode != 0:
        raise PunchlineError("dvc pull failed", way_out="See above; docs/data.md says how to add a remote")
    status = subprocess.run([*dvc, "status", "--json"], capture_output=True, text=True, check=False)
    try:
        changed = json.loads(status.stdout or "null")
    except json.JSONDecodeError:
        changed = None
    if status.returncode != 0 or changed is None:
        raise PunchlineError(f"dvc status failed: {status.stderr.strip()}")
    if changed:
        print(json.dumps(changed, indent=1), file=sys.stderr)
        raise PunchlineError(
            f"the files are not those of dvc.lock (stages {', '.join(sorted(changed))})",
            way_out="Undo your changes and run `dvc checkout`, or run `dvc repro` instead of restoring",
        )
    from punchline.audit.state import table_states

    states = table_states(Project(read_selection({})[0]))
    for state in states:
        if state.reason:
            print(f"{state.path}: {state.state}, {state.reason}")
    there = sum(not state.reason for state in states)
    print(f"restored: {there} of {len(states)} tables are current; `snakemake -n` says what is left to do")


@app.command()
def fetch(
    retry_missing: Annotated[
        bool, typer.Option("--retry-missing", help="Try again what was recorded as missing")
    ] = False,
    config: Annotated[list[str] | None, typer.Option(help="As snakemake --config: corpus=open mirror=DIR")] = None,
) -> None:
    """Fetch what the selection needs; with --retry-missing also what was recorded as missing."""
    chosen = ["--config", *config] if config else []
    forced = ["--forcerun", "fetch_images"] if retry_missing else []
    environment = {"PUNCHLINE_RETRY_MISSING": "1"} if retry_missing else {}
    raise typer.Exit(_snakemake("fetch", *forced, *chosen, **environment))


@app.command()
def plan(
    selection: Annotated[list[str] | None, typer.Argument(help=SELECTION)] = None,
) -> None:
    """What a run would still ask, before it does: requests, images, tokens, money. Nothing is asked or changed."""
    from punchline.stages.plan import plan

    chosen = dict(_override(text) for text in selection or ())
    if "run" in chosen:
        chosen = named_run(chosen)[1] | {key: value for key, value in chosen.items() if key != "run"}
    name = f"plan-{os.getpid()}"  # a run of its own: no run's files are touched
    given = [f"{key}={json.dumps(value)}" for key, value in {**chosen, "run": name}.items()]
    try:
        status = _snakemake("questions", "--quiet", "all", "--config", *given)
        if status:
            raise typer.Exit(status)
        rows = plan(Project(read_selection({**chosen, "run": name})[0]))
    finally:
        where = Paths(run=name)
        for folder in (where.data, where.results, where.logs):
            shutil.rmtree(folder, ignore_errors=True)
    shown = [column for column in PLAN if any(row.get(column) not in (None, "") for row in rows)]
    _print([["" if (cell := row.get(column)) is None else str(cell) for column in shown] for row in rows], shown)
    asked = sum(int(row["to_ask"] or 0) for row in rows)
    costs = [float(row["cost_most"] or 0) for row in rows if row.get("cost_most")]
    unpriced = sorted({str(row["asked"]) for row in rows if row["to_ask"] and not row.get("cost_most")})
    print(f"{asked:,} requests to ask; at most {sum(costs):,.2f} where a price is known", end="")
    print(f" (none for {', '.join(unpriced)})" if unpriced else "")


@app.command()
def retry(
    selection: Annotated[list[str] | None, typer.Argument(help=SELECTION)] = None,
) -> None:
    """Ask once more what failed, and make everything that rests on it again."""
    chosen = ["--config", *selection] if selection else []
    project = Project(read_selection(dict(_override(text) for text in selection or ()))[0])
    hops = {
        "infer_chained" if hop == CHAINED else f"judge_{who}"
        for benchmark in project.selection.benchmarks
        for model in project.selection.models
        for hop, who in project.hops(benchmark, model).items()
    }
    raise typer.Exit(_snakemake("--forcerun", "infer", *sorted(hops), *chosen))


def _override(text: str) -> tuple[str, Any]:
    """key=value of --config, its value read as YAML, as Snakemake does."""
    key, equals, value = text.partition("=")
    if not equals:
        raise PunchlineError(f"expected key=value, got {text!r}", way_out="As snakemake --config takes them")
    return key, yaml.safe_load(value)


def _print(rows: Sequence[Sequence[Any]], headers: Sequence[str], widths: Sequence[int | None] | None = None) -> None:
    print(tabulate(rows, headers, tablefmt="plain", disable_numparse=True, maxcolwidths=widths))


@app.command("models")
def models_command(
    judges: Annotated[bool, typer.Option("--judges", help="Those of config/judge/ instead")] = False,
    runnable: Annotated[bool, typer.Option("--runnable", help="Only those that can run here")] = False,
) -> None:
    """The models there are: one YAML file each in config/model/, and which of them can run on this machine."""
    folder = "config/judge" if judges else "config/model"
    rows = []
    for name in stems(folder):
        try:
            card = read_card(name, folder)
            engine = engines.load(card, seed=0)
            engines.check_files(card, engine)
            why = f"gone: {card.gone}" if card.gone else engine.unavailable()
        except PunchlineError as error:
            if not runnable:
                rows.append((name, "", "", "", f"no: {error}", ""))
            continue
        if why and runnable:
            continue
        reads = "+".join(card.modality) if card.engine not in ("replay",) else "-"
        papers = " ".join(sorted(card.papers)) or card.published_as or ""
        caveat = f" ({card.caveat})" if card.caveat else ""
        rows.append((name, card.engine, reads, papers, f"no: {why}" if why else f"yes{caveat}", card.licence or ""))
    headers = ("model", "engine", "reads", "papers", "can run here", "licence")
    _print(rows, headers, (None, None, None, 22, 60, None))


@app.command("benchmarks")
def benchmarks_command() -> None:
    """The benchmarks there are: one folder each in src/punchline/benchmarks/."""
    loaded = [benchmarks.load(name) for name in benchmark_names()]
    rows = [(b.NAME, " ".join(b.CONDITIONS), " ".join(b.JUDGES), " ".join(b.TASKS), " ".join(b.TABLES)) for b in loaded]
    headers = ("benchmark", "conditions", "judges, scorers", "tasks", "tables")
    _print(rows, headers, (None, 24, 18, 48, 48))


@app.command("tables")
def tables_command(
    selection: Annotated[list[str] | None, typer.Argument(help=SELECTION)] = None,
    run: RUN = DEFAULT_RUN,
) -> None:
    """The tables there are, the targets that make them, and whether what lies there is current: current, stale, absent.

    Without a selection, in that which the run was last made with.
    """
    from punchline.audit.state import table_states

    chosen = dict(_override(text) for text in selection or ())
    selected = read_selection({**chosen, "run": run})[0] if chosen else made_with(run)
    states = {(one.benchmark, one.table): one for one in table_states(Project(selected))}
    rows = []
    for name in benchmark_names():
        for table in benchmarks.load(name).TABLES.values():
            state = states.get((name, table.name))
            path = Paths(run=run).table(table.file)
            known = "" if state is None else state.state + (f": {state.reason}" if state.state == "stale" else "")
            rows.append((table.name, path, table.rule, known or "not selected", table.title))
    _print(rows, ("table", "target", "rule", "state", "title"), (None, None, None, 60, None))


@app.command("runs")
def runs_command() -> None:
    """The runs that were made: their selection, how many tables are current, and when the newest was made."""
    from punchline.audit.state import table_states
    from punchline.project.runs import runs, selection_text

    rows = []
    for name, chosen in runs().items():
        states = table_states(Project(chosen.selection))
        there = [Path(state.path) for state in states if Path(state.path).is_file()]
        lineages = [lineage for path in there if (lineage := _lineage(path.as_posix())) is not None]
        when = max((str(lineage.noted.get("made_at")) for lineage in lineages), default="")[:16]
        stale = sum(state.state == "stale" for state in states)
        tables = f"{len(there)} of {len(states)}" + (f", {stale} stale" if stale else "")
        root = lineages[0].root if lineages else ""
        rows.append((name, selection_text(chosen.selection), tables, root[:16], when))
    _print(rows, ("run", "selection", "tables", "root of the first", "made (UTC)"), (None, 60, None, None, None))


def _lineage(path: str) -> Lineage | None:
    from punchline.audit.state import read_lineage

    try:
        return read_lineage(path)
    except PunchlineError:
        return None


@app.command("diff")
def diff_command(
    a: Annotated[str, typer.Argument(metavar="RUN", help="A run; `default` is the default one")],
    b: Annotated[str, typer.Argument(metavar="RUN", help="Another")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Which cells of two runs' tables differ, and why: selection, models, data, code."""
    from punchline.audit.diff import diff

    found = diff(a, b)
    if as_json:
        print(json.dumps([{**one._asdict(), "cells": [c._asdict() for c in one.cells]} for one in found], indent=1))
        return
    for one in found:
        print(f"{one.table}: {len(one.cells):,} cells differ, {one.same:,} are equal")
        for why in one.why:
            print(f"  because  {why}")
        for cell in one.cells[:20]:
            values = " → ".join("-" if value is None else f"{value:.6g}" for value in (cell.a, cell.b))
            print(f"  {cell.row} · {cell.column}: {values}")
        if len(one.cells) > 20:
            print(f"  … and {len(one.cells) - 20:,} more: --json has all")


@app.command()
def labelled(
    labels: Annotated[Path, typer.Argument(help="CSV: explanation, label, and annotation_row or caption, element")],
    out: Annotated[Path, typer.Argument(help="CSV for a card with engine: replay, format: humorbench")],
    annotations: Annotated[
        Path, typer.Option(help="HumorBench's comprehensive_annotations.csv, once it is fetched")
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
    out: Annotated[Path, typer.Option(help="Folder for sheet.csv and key.csv")],
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
    sheets: Annotated[list[Path], typer.Argument(help="Filled-in sheets, one a rater; a file's stem names its rater")],
    key: Annotated[Path, typer.Option(help="The key that was written with the sheet")],
    out: Annotated[Path, typer.Option(help="The ratings file to write")] = Path("config/pixelhumor/ratings.csv"),
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
    out: Annotated[Path, typer.Option(help="The review sheet to write")] = Path("review.csv"),
    seed: Annotated[int, typer.Option(help="Of the engine")] = 0,
) -> None:
    """StripCipher: ask models for drafts of the texts of the prepared strips, and write the sheet for their review."""
    from punchline.core.records import Item
    from punchline.core.storage import read_records
    from punchline.people import review
    from punchline.stages.infer import answer, image_files

    prepared = Path(Paths().items("stripcipher"))
    if not prepared.is_file():
        raise PunchlineError("no strip is prepared", file=prepared, way_out="Run the target `prepare` first")
    items = read_records(prepared, Item)
    asked = [request for item in items for request in review.draft_requests(item)]
    if not asked:
        raise PunchlineError(
            "no strip has pictures", file=prepared, way_out="Run the target `prepare` with a model that looks at images"
        )
    pool: list[review.Draft] = []
    for model in models:
        card = read_card(model)
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
    sheet: Annotated[Path, typer.Argument(help="The sheet that people have filled in")] = Path("review.csv"),
    strips: Annotated[Path, typer.Option(help="Where the accepted texts go")] = STRIPS,
) -> None:
    """StripCipher: put the texts that people accepted into strips.json, and its digest into the manifest beside it."""
    from punchline.core.records import sha256
    from punchline.people.review import reviewed as accepted

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


@app.command()
def show(
    record: Annotated[str, typer.Argument(metavar="ID", help="An item id, or the start of a request id")],
    run: RUN = DEFAULT_RUN,
) -> None:
    """One record in full, with what it comes from and what was made of it, as JSON."""
    from punchline.audit.show import as_text, find

    print(as_text(find(record, run)))


if __name__ == "__main__":
    main()
