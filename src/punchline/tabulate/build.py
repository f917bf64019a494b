"""Tables of a benchmark from scores: CSV, Markdown, LaTeX, each with its lineage."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from punchline import __version__, paths
from punchline.artifacts.contents import behind_shortcuts
from punchline.artifacts.lineage import FORMAT, Lineage, Model, Respondent, document, kind_of, lineage_path, root_of
from punchline.artifacts.passes import CHAINED, DATA, JUDGE
from punchline.artifacts.project import Project
from punchline.artifacts.respondents import card_in_tables
from punchline.core import engine as engines
from punchline.core.benchmark import Verdict
from punchline.errors import check_known
from punchline.files import write_bytes, write_text
from punchline.paths import DEFAULT_RUN
from punchline.prepare import files_of_table, naming, paths_of_table
from punchline.requests import exchanges_in_pass
from punchline.responses import read_verdicts
from punchline.schema import RULES, Rule
from punchline.tables.declare import Across, PublishedRow, Row, Table
from punchline.tables.declare import Model as Shown
from punchline.tables.latex import as_latex
from punchline.tables.ranks import Rank, main_column, ranks_in
from punchline.tables.render import as_csv, as_markdown, notes_of, read_published
from punchline.tables.run import Answers, Measured, measure, rows_of
from punchline.tables.tabulate import RETRY, TOLD, Tabulated, tabulate
from punchline.tabulate.labels import checked, read_labels, verdicts_in
from punchline.tabulate.notes import chosen, separating, trained_on, unasked, unknown_items, without_pictures
from punchline.tabulate.ranks import items_of, ranks_text, read_models
from punchline.tabulate.respondents import answerers_in
from punchline.tabulate.unparsed import unparsed_csv
from punchline.workflow.code import version_of
from punchline.workflow.lineage import code_of, files_behind, libraries_of
from punchline.workflow.processes import MIRROR


class TableResult(NamedTuple):
    """A table, the models in it, who was asked about texts of the data, and the ranks of the models."""

    table: Tabulated
    models: list[Model]
    compared: list[Respondent]
    ranks: list[Rank]


class Shared(NamedTuple):
    """Shared data of all tables of models."""

    items: pd.DataFrame
    models: dict[Rule, tuple[list[Shown], Answers]]
    unknown: dict[str, str]  # a note on answers to items that there are not, by model
    checked: Collection[str]  # judges with a verdict on a text that people have labeled
    notes: list[str]  # on pictures


def read(project: Project, benchmark: str, tables: Iterable[Table]) -> Shared:
    """Items and scores of a selection; nothing where no table is of models."""
    if not any(table.of_models for table in tables):
        return Shared(pd.DataFrame(), {rule: ([], Answers()) for rule in RULES}, {}, (), [])
    items = items_of(project, benchmark)
    models = {rule: read_models(project, benchmark, items, rule) for rule in RULES}
    verdicts = [verdicts_in(one.name, one.scores) for one in models["released"][0]]
    seen = checked(read_labels(project, benchmark, items), verdicts)
    notes = without_pictures(project.paths.items(benchmark)) if project.illustrated(benchmark) else []
    return Shared(items, models, unknown_items(project, benchmark), seen, notes)


def compute(project: Project, benchmark: str, names: Collection[str]) -> dict[str, TableResult]:
    """Tables by name, of published values and files as they lie."""
    tables, tables_made = [project.benchmark(benchmark).TABLES[name] for name in names], {}
    shared = read(project, benchmark, tables)
    model = functools.cache(functools.partial(_model, project, benchmark, shared.unknown))
    for table in tables:
        with naming(paths_of_table(project, benchmark, table.name)):
            described = [model(name, table.prices) for name in project.cards if table.of_models]
            tables_made[table.name] = _table(project, benchmark, table, shared, described)
    return tables_made


def _table(
    project: Project, benchmark: str, table: Table, shared: Shared, described: Sequence[tuple[Model, list[str]]]
) -> TableResult:
    """One table. `described`: its models, with notes on each."""
    selection, files = project.part(benchmark, table.name), files_of_table(project, benchmark, table.name)
    rule, models = selection.scoring or table.published_rule, [model for model, _ in described]
    printed = _printed(project.benchmark(benchmark).TABLES, table, paths.published(benchmark))
    passes, of_passes = list[Respondent](), list[str]()
    verdicts: dict[str, Verdict] = {}
    if table.compared is not None:
        passes, of_passes = _passes(project, benchmark, DATA, "texts of the data", False)
        for pass_ in passes:
            verdicts |= read_verdicts(pass_.who, exchanges_in_pass(project, benchmark, pass_.pass_, DATA))
    compared = table.compared(files, printed, verdicts) if table.compared is not None and verdicts else []
    of_compared = measure(table, rule, compared, kind=table.kind)
    measured, rows, across_notes = _measured(table, shared, files, models, rule)
    measured[rule] += of_compared
    subset, of_items = chosen(project, benchmark) if table.of_models else (None, [])
    printed_as = {model.card.name: model.card.printed_as(benchmark, table.name) for model in models}
    if table.data is None:  # the paper's rows with the same keys follow those that are compared with them
        printed_as |= {own.model: row["row"] for own in of_compared for row in printed}
    tabulated = tabulate(
        table,
        measured,
        printed + ([] if table.summed_up is None else [*table.summed_up(table.name, files)]),
        rule=rule,
        complete=not selection.corpus.drawn and not of_items,  # rows of the data itself are of the released files
        subset=subset,
        printed_as={name: row for name, row in printed_as.items() if row is not None},
        notes=[*of_items, *across_notes],
        retry=_retry(project),
        extractor=bool(selection.extractor),
    )
    notes = [note for _, own in described for note in own] + of_passes
    notes += unasked(project, benchmark, table, models, passes, shared.checked)
    notes += shared.notes if table.of_models else []
    if table.of_models and rule == table.published_rule:
        notes += behind_shortcuts(project.paths.csv("shortcuts", benchmark), table)
    tabulated.notes.extend(notes + separating(table, rows))
    column = main_column(table)
    return TableResult(tabulated, models, passes, [] if column is None else ranks_in(table, column, rows))


def _measured(
    table: Table, shared: Shared, files: Mapping[str, bytes], models: Sequence[Model], rule: Rule
) -> tuple[dict[Rule, list[Measured]], list[Row], list[str]]:
    """(rows under both rules, those of the data under `rule`, which is shown; the models' rows under it; notes)."""
    measured: dict[Rule, list[Measured]] = {}
    judges = {model.card.name: [one.card for one in model.passes if one.pass_ == JUDGE] for model in models}
    cards = {model.card.name: model.card for model in models}
    shown_rows, notes = list[Row](), list[str]()
    for each, (frames, answers) in shared.models.items():
        entries = [replace(of, card=cards[of.name], judge=next(iter(judges[of.name]), None)) for of in frames if cards]
        across = Across(entries, shared.items, files)
        rows = rows_of(table, across)
        data = table.data(files) if table.data is not None and each == rule else ()
        measured[each] = measure(table, each, data, kind=table.kind) + measure(table, each, rows, answers)
        if each == rule:
            shown_rows, notes = rows, across.notes
    return measured, shown_rows, notes


def _printed(tables: Mapping[str, Table], spec: Table, file: str) -> list[PublishedRow]:
    """Printed values of a table. Raises PunchlineError for an unknown table or column."""
    rows = read_published(file)
    for row in rows:
        check_known(row["table"], tables, "no such table", file=file, record=row["row"])
        if row["table"] == spec.name:
            what = f"{spec.name} has no column {row['column']!r}"
            check_known(row["column"], spec.columns, what, file=file, record=row["row"])
    return [row for row in rows if row["table"] == spec.name]


def _passes(
    project: Project, benchmark: str, model: str, about: str, prices: bool
) -> tuple[list[Respondent], list[str]]:
    """(respondents of the passes about a model's answers, or about DATA, as a table shows them; notes on them)."""
    respondents, notes = [], []
    for pass_ in project.answerers(benchmark, model):
        answerer = answerers_in(project.paths.responses(benchmark, model, pass_.name))
        if len(answerer.versions) > 1:
            notes.append(f"{about}, {pass_.name}: several engine versions answered: {', '.join(answerer.versions)}.")
        if pass_.name != CHAINED:
            notes += [
                f"INCOMPLETE: {pass_.name} by {pass_.who} failed for {about}: {reason}. `{_retry(project)}` asks again."
                for reason in answerer.failures
            ]
            if answerer.truncated > TOLD:
                notes.append(f"{about}: {answerer.truncated:.0%} of what {pass_.who} said ({pass_.name}) was cut off.")
        card = None if pass_.card is None else card_in_tables(pass_.card, benchmark, prices)
        respondents.append(
            Respondent(pass_=pass_.name, who=pass_.who, card=card, key=pass_.key, versions=answerer.versions)
        )
    return respondents, notes


def _model(
    project: Project, benchmark: str, unknown: Mapping[str, str], name: str, prices: bool
) -> tuple[Model, list[str]]:
    """A model as a table shows it, and notes on who answered."""
    card = card_in_tables(project.cards[name], benchmark, prices)
    versions = answerers_in(project.paths.responses(benchmark, name)).versions
    passes, of_passes = _passes(project, benchmark, name, f"answers of {name}", prices)
    several = f"{name} was answered by several engine versions: {', '.join(versions)}."
    notes = [several] * (len(versions) > 1)
    notes += [*of_passes, *([f"{name}: {card.caveat}."] if card.caveat else []), *trained_on(card, project, benchmark)]
    key = engines.model_key(project.engines[name], project.cards[name], benchmark)
    model = Model(card=card, key=key, kind=kind_of(card), versions=list(versions), passes=tuple(passes))
    return model, [*notes, *([unknown[name]] if name in unknown else [])]


def _retry(project: Project) -> str:
    run = project.selection.run
    return RETRY if run == DEFAULT_RUN else f"{RETRY} run={run}"


def rendered(project: Project, benchmark: str, table: str, tabulated: Tabulated) -> dict[str, str]:
    """{path: text} of a table's own files."""
    spec = project.benchmark(benchmark).TABLES[table]
    path = Path(project.paths.table(spec.file))
    return {
        path.as_posix(): as_csv(tabulated),
        path.with_suffix(".md").as_posix(): as_markdown(tabulated, spec),
        path.with_suffix(".tex").as_posix(): as_latex(tabulated, spec),
    }


def write_tables(project: Project, benchmark: str) -> None:
    """Write all tables of a benchmark with their lineages, its unparsed answers and the ranks of its models."""
    tables, noted = compute(project, benchmark, list(project.benchmark(benchmark).TABLES)), circumstances()
    for table, result in tables.items():
        _write(project, benchmark, table, result, noted)
    write_text(project.paths.csv("unread", benchmark), unparsed_csv(project, benchmark))
    ranks = {table: one.ranks for table, one in tables.items()}
    write_text(project.paths.csv("ranks", benchmark), ranks_text(project, benchmark, ranks))


def _write(project: Project, benchmark: str, table: str, result: TableResult, noted: Mapping[str, Any]) -> None:
    part, artifact = Project(project.part(benchmark, table)), project.table(benchmark, table)
    spec = part.benchmark(benchmark).TABLES[table]
    for name, text in rendered(part, benchmark, table, result.table).items():
        write_bytes(name, text.encode())
    files = files_behind(part.table(benchmark, table))
    lineage = Lineage(
        format=FORMAT,
        benchmark=benchmark,
        table=table,
        selection=part.selection,
        models=result.models,
        compared=tuple(result.compared),
        cells=result.table.cells,
        files=files,
        code=code_of(artifact),
        libraries=libraries_of(artifact),
        root=root_of(benchmark, table, part.selection, result.models, result.table.cells, files, result.compared),
        noted={**noted, "notes": notes_of(result.table, spec)},
        sha256="",
    )
    write_bytes(lineage_path(artifact.outputs[0]), document(lineage))


def circumstances() -> dict[str, Any]:
    """Circumstances of a run, which are compared with nothing: commit, dirty flag, time, mirror, versions, platform."""

    def git(*arguments: str) -> str | None:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    dirty = git("status", "--porcelain", "--untracked-files=no")
    packages = ("snakemake", "opencv-python-headless", "jiwer", "numpy", "pyarrow", "rapidocr")
    return {
        "commit": git("rev-parse", "HEAD"),
        "dirty": None if dirty is None else bool(dirty),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "mirror": os.environ.get(MIRROR) or None,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {"punchline": __version__} | {name: version_of(name) for name in packages},
    }
