"""Tables, and their lineages: grades in, CSV, Markdown, LaTeX out, with what each table rests on beside it."""

from __future__ import annotations

import os
import platform
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from punchline import __version__
from punchline.bench.discrepancies import DISCREPANCIES, discrepancies
from punchline.bench.frame import Frame, Scope, read_frame
from punchline.bench.latex import as_latex
from punchline.bench.render import as_csv, as_markdown, read_published
from punchline.bench.table import RETRY, TOLD, Part, PublishedRow, Table, Tabulated, all_parts, measure, tabulate
from punchline.bench.table import Model as Shown
from punchline.core import engine as engines
from punchline.core.benchmark import SCORERS, Verdict
from punchline.core.errors import PunchlineError, nearest
from punchline.core.files import write_bytes, write_text
from punchline.core.records import Item, ModelCard, Rule
from punchline.core.storage import csv_text, read_records
from punchline.project import adapters, paths
from punchline.project.asking import shown
from punchline.project.hops import CHAINED, DATA, JUDGE, Hop
from punchline.project.lineage import (
    FORMAT,
    Asked,
    Lineage,
    Model,
    code_of,
    document,
    files_of,
    kind_of,
    libraries_of,
    lineage_path,
    root_of,
)
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN
from punchline.project.processes import MIRROR
from punchline.stages.ask import asked_of_hop
from punchline.stages.cells import Cells, Who, read_cells, scope_of, who_answered
from punchline.stages.job import make
from punchline.stages.prepare import files_of_table, naming, paths_of_table, raw_files, read_selected
from punchline.stages.unit import Asked as Pair
from punchline.stages.unit import read_verdicts
from punchline.stages.unread import COLUMNS as UNREAD
from punchline.stages.unread import Unread, as_rows


def trained_on(card: ModelCard, project: Project, benchmark: str) -> list[str]:
    """A note on how many of the items at hand a card's adapter was trained on."""
    name = card.options.get("adapter")
    found = adapters.trained(name) if isinstance(name, str) else None
    if found is None or found.recipe.get("benchmark") != benchmark or found.corpus != project.selection.corpus.name:
        return []
    items = read_selected(project.paths.selected(benchmark))
    known = set(found.trained) & set(items)
    way_out = f"subset={adapters.folder_of(found.name)}/{adapters.HELD_OUT} leaves them out"
    return [f"{card.name} was trained on {len(known):,} of these {len(items):,} items; {way_out}."] if known else []


def compute(
    project: Project,
    benchmark: str,
    table: str,
    cells: Callable[[str], Cells],
    frame: Callable[[str, Scope, Rule, Table], Frame],
    said: Callable[[str], Iterable[Pair]],
) -> tuple[Tabulated, list[Model], list[Asked]]:
    """A table, its models, and who was asked about texts of the data itself: of what the functions give, published
    values and files as they lie there.

    `frame` is asked for a model's grades where a table has rows of several models, `said` for a hop's requests about
    the data with their answers.
    """
    loaded, selection = project.benchmark(benchmark), project.selection
    spec: Table = loaded.TABLES[table]
    rule = selection.scoring or spec.rule
    parts, graded, models, notes = [], [], [], []
    scope = scope_of(project, benchmark) if spec.across is not None else Scope({}, {})
    for name in selection.models if spec.graded else ():
        made = cells(name)
        model, judge, told = _model(project, benchmark, name, spec.prices, made.who)
        models.append(model)
        notes += told
        if made.unknown and model.card.options.get("format", benchmark) == benchmark:
            some = ", ".join(made.unknown[:5]) + (", …" if len(made.unknown) > 5 else "")
            notes.append(f"{name}: {len(made.unknown):,} answered items do not exist in {benchmark}: {some}.")
        if spec.by_model:
            parts.append(Part(name, model.kind, model.card.engine, made.tables[table][rule]))
        if spec.across is not None:
            grades = spec.read_by(frame(name, scope, rule, spec))
            graded.append(Shown(name, model.kind, model.card.engine, grades, model.card, judge))
    printed = _printed(loaded.TABLES, spec, paths.published(benchmark))
    files = files_of_table(project, benchmark, table)
    compared, hops, told = _compared(project, benchmark, spec, files, printed, said)
    notes += told
    every_hop = [*hops, *(hop for model in models for hop in model.hops)]
    judges = {hop.card.name: hop.card for hop in every_hop if hop.card and hop.hop != CHAINED}
    notes += [f"Judge {card.name}: {card.caveat}." for card in judges.values() if card.caveat]
    notes += unasked(project, benchmark, spec, models, hops)
    if spec.graded and project.illustrated(benchmark):
        notes += without_pictures(project.paths.items(benchmark))
    whole = not selection.corpus.drawn
    if spec.graded:  # a table of the data itself takes the released files whole
        whole = whole and chosen_sources(project, benchmark) is None
        whole = whole and selection.subset is None and selection.limit is None
    beside = [] if spec.data_rows is not None else compared  # the paper's rows with the same keys
    stated = [] if spec.summed_up is None else spec.summed_up(files)
    every, told = all_parts(spec, [*parts, *compared], graded, scope, files)
    subset, of_items = chosen(project, benchmark) if spec.graded else (None, [])
    tabulated = tabulate(
        spec,
        every,
        printed + stated,
        rule=rule,
        complete=whole,
        subset=subset,
        printed_as={m.card.name: row for m in models if (row := m.card.printed_as(benchmark, table)) is not None}
        | {part.name: row["row"] for part in beside for row in printed},
        notes=[*of_items, *told],
        retry=_retry(project),
    )
    tabulated.notes.extend(notes)
    return tabulated, models, hops


def _printed(tables: Mapping[str, Table], spec: Table, file: str) -> list[PublishedRow]:
    """What the paper prints of a table. Raises PunchlineError for a table or a column that there is not."""
    rows = read_published(file)
    for row in rows:
        if row["table"] not in tables:
            raise PunchlineError("no such table", file=file, record=row["row"], way_out=nearest(row["table"], tables))
        if row["table"] == spec.name and row["column"] not in spec.names:
            what, way_out = f"{spec.name} has no column {row['column']!r}", nearest(row["column"], spec.names)
            raise PunchlineError(what, file=file, record=row["row"], way_out=way_out)
    return [row for row in rows if row["table"] == spec.name]


def _compared(
    project: Project,
    benchmark: str,
    spec: Table,
    files: Mapping[str, bytes],
    printed: Sequence[PublishedRow],
    said: Callable[[str], Iterable[Pair]],
) -> tuple[list[Part], list[Asked], list[str]]:
    """(rows that rest on what scorers say of texts of the data itself, who they are, notes)."""
    parts: list[Part] = []
    hops: list[Asked] = []
    notes: list[str] = []
    verdicts: dict[str, Verdict] = {}
    if spec.compared is None:
        return parts, hops, notes
    for hop in project.answerers(benchmark, DATA):
        pairs = list(said(hop.name))
        asked, told = _asked(
            hop, who_answered(answer for _, answer in pairs), "texts of the data", benchmark, False, _retry(project)
        )
        hops.append(asked)
        notes += told
        verdicts |= read_verdicts(hop.who, pairs)
    for name, row in spec.compared(files, printed, verdicts) if verdicts else ():
        parts.append(Part(name, spec.kind, "", measure([row])))
    return parts, hops, notes


def _retry(project: Project) -> str:
    run = project.selection.run
    return RETRY if run == DEFAULT_RUN else f"{RETRY} run={run}"


def _asked(hop: Hop, answered: Who, about: str, benchmark: str, prices: bool, retry: str) -> tuple[Asked, list[str]]:
    """Who answered a hop, as a table shows it, and notes on that."""
    notes = []
    if len(answered.versions) > 1:
        notes.append(f"{about}, {hop.name}: several engine versions answered: {', '.join(answered.versions)}.")
    if hop.name != CHAINED:
        notes += [
            f"INCOMPLETE: {hop.name} by {hop.who} failed for {about}: {reason}. `{retry}` asks again."
            for reason in answered.failures
        ]
        if answered.truncated > TOLD:
            notes.append(f"{about}: {answered.truncated:.0%} of what {hop.who} said ({hop.name}) was cut off.")
    gives = None if hop.card is None else shown(hop.card, benchmark, prices)
    return Asked(hop=hop.name, who=hop.who, card=gives, key=hop.key, versions=answered.versions), notes


def _model(
    project: Project, benchmark: str, name: str, prices: bool, who: Mapping[str, Who]
) -> tuple[Model, ModelCard | None, list[str]]:
    """A model as a table shows it, its judge, and notes on who answered."""
    card = shown(project.cards[name], benchmark, prices)
    versions = list(who[""].versions)
    notes = []
    if len(versions) > 1:
        notes.append(f"{name} was answered by several engine versions: {', '.join(versions)}.")
    asked, judge = [], None
    for hop in project.answerers(benchmark, name):
        one, told = _asked(hop, who[hop.name], f"answers of {name}", benchmark, prices, _retry(project))
        judge = one.card if hop.name == JUDGE else judge
        asked.append(one)
        notes += told
    notes += [f"{name}: {card.caveat}."] if card.caveat else []
    notes += trained_on(card, project, benchmark)
    key = engines.model_key(project.engines[name], project.cards[name], benchmark)
    return Model(card=card, key=key, kind=kind_of(card), versions=versions, hops=tuple(asked)), judge, notes


def chosen_sources(project: Project, benchmark: str) -> Sequence[str] | None:
    """The sources that the corpus keeps of a benchmark; None: all."""
    return (project.selection.corpus.sources or {}).get(benchmark)


def chosen(project: Project, benchmark: str) -> tuple[tuple[str, str] | None, list[str]]:
    """(the user's subset: its name in the column `subset`, and what it is; a note on how many items of how many)."""
    selection = project.selection
    sources = chosen_sources(project, benchmark)
    if selection.subset is None and selection.limit is None and sources is None:
        return None, []
    loaded = project.benchmark(benchmark)
    listed = loaded.listing(raw_files(project, benchmark, loaded.ITEM_FILES))
    of = f"{len(read_selected(project.paths.selected(benchmark))):,} of {len(listed):,}"
    parts = [f"corpus {selection.corpus.name}"] if sources is not None else []
    parts += [f"limit {selection.limit}"] if selection.limit is not None else []
    if selection.subset is None:
        return None, [f"Items: {of} ({', '.join(parts)})."]
    subset = f"subset {selection.subset} (sha256 {(selection.subset_sha256 or '')[:16]}…)"
    return (Path(selection.subset).stem, f"{subset}: {of} items"), [f"Items: {of} ({', '.join([*parts, subset])})."]


def without_pictures(path: str) -> list[str]:
    """A note on the items that models could not be shown, with the most frequent reasons."""
    items = read_records(path, Item)
    reasons = Counter(item.missing for item in items if item.missing is not None)
    if not reasons:
        return []
    some = "; ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(3))
    return [f"{reasons.total():,} of {len(items):,} items have no picture to show: {some}."]


def unasked(
    project: Project, benchmark: str, spec: Table, models: Sequence[Model], compared: Sequence[Asked]
) -> list[str]:
    """Notes on what this selection asks nobody, where a table of models could show it."""
    loaded, selection = project.benchmark(benchmark), project.selection
    if not models and spec.compared is None:
        return []
    answered = {hop.hop for hop in (*compared, *(hop for model in models for hop in model.hops))}
    notes = [
        f"No {hop} values: choose a scorer of config/judge/ with scorers=[NAME] (docs/scorers.md)."
        for hop in SCORERS
        if hop in loaded.JUDGES and hop not in answered
    ]
    # A table of several models (`across`) says itself whose answers have no verdict.
    if JUDGE in loaded.JUDGES and spec.by_model and JUDGE not in answered:
        notes.append("No judge was asked: choose one of config/judge/ with judge=NAME.")
    left = [name for name in spec.conditions if models and name not in selection.conditions]
    return notes + ([f"Not asked: {', '.join(left)}; conditions=all, or a list, asks them."] if left else [])


def rendered(project: Project, benchmark: str, table: str, made: Tabulated) -> dict[str, str]:
    """{path: text} of a table's own files."""
    spec = project.benchmark(benchmark).TABLES[table]
    path = Path(project.paths.table(spec.file))
    return {
        path.as_posix(): as_csv(made),
        path.with_suffix(".md").as_posix(): as_markdown(made, spec),
        path.with_suffix(".tex").as_posix(): as_latex(made, spec),
    }


def write_table(project: Project, benchmark: str, table: str) -> None:
    """One table of a paper, and its lineage."""
    step = project.table(benchmark, table)
    part = Project(project.part(benchmark, table))
    selection, where = part.selection, part.paths

    def write() -> None:
        with naming(paths_of_table(part, benchmark, table)):
            made, models, hops = compute(
                part,
                benchmark,
                table,
                lambda model: read_cells(where.cells(benchmark, model)),
                lambda model, scope, rule, spec: read_frame(where.grades(benchmark, model), scope, rule, spec.parsed),
                lambda hop: asked_of_hop(part, benchmark, hop, DATA),
            )
        for name, text in rendered(part, benchmark, table, made).items():
            write_bytes(name, text.encode())
        files = files_of(part, benchmark, table)
        lineage = Lineage(
            format=FORMAT,
            benchmark=benchmark,
            table=table,
            selection=selection,
            models=models,
            compared=tuple(hops),
            cells=made.cells,
            files=files,
            code=code_of(step),
            libraries=libraries_of(step),
            root=root_of(benchmark, table, selection, models, made.cells, files, hops),
            noted=circumstances(os.environ.get(MIRROR) or None),
            sha256="",
        )
        write_bytes(lineage_path(step.outputs[0]), document(lineage))

    make(step, write)


def discrepancies_text(project: Project, cells: Callable[[str, str], Cells]) -> str:
    """discrepancies.csv, of a benchmark's cells of a model."""
    rows = []
    for name in project.selection.benchmarks:
        for model in project.selection.models:
            tables = cells(name, model).tables
            for table in project.benchmark(name).TABLES:
                rows += discrepancies(name, table, model, tables[table]) if table in tables else []
    return csv_text(DISCREPANCIES, rows)


def write_discrepancies(project: Project) -> None:
    """Where the two rules differ on the same answers."""
    step = project.discrepancies()

    def cells(benchmark: str, model: str) -> Cells:
        return read_cells(project.paths.cells(benchmark, model))

    make(step, lambda: write_text(step.outputs[0], discrepancies_text(project, cells)))


def unread_text(project: Project, found: Callable[[str], Iterable[Unread]]) -> str:
    """A benchmark's unread.csv, of what was read of each model's answers."""
    return csv_text(UNREAD, (row for model in project.selection.models for row in as_rows(model, found(model))))


def write_unread(project: Project, benchmark: str) -> None:
    """What was read of all models' answers to a benchmark."""
    step = project.unread(benchmark)

    def found(model: str) -> Iterable[Unread]:
        return read_cells(project.paths.cells(benchmark, model)).unread

    make(step, lambda: write_text(step.outputs[0], unread_text(project, found)))


def circumstances(mirror: str | None) -> dict[str, Any]:
    """What is noted of a run and compared with nothing: commit, dirty flag, time, mirror, versions, platform."""

    def git(*arguments: str) -> str | None:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    dirty = git("status", "--porcelain", "--untracked-files=no")
    packages = ("snakemake", "opencv-python-headless", "jiwer", "numpy", "pyarrow", "rapidocr")
    return {
        "commit": git("rev-parse", "HEAD"),
        "dirty": None if dirty is None else bool(dirty),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "mirror": mirror,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {"punchline": __version__} | {name: _version(name) for name in packages},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
