"""Tables of a benchmark from scores: CSV, Markdown, LaTeX, each with its lineage."""

from __future__ import annotations

import os
import platform
import subprocess
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

from punchline import __version__, paths
from punchline.artifacts.contents import behind_shortcuts
from punchline.artifacts.lineage import FORMAT, Asked, Lineage, Model, document, kind_of, lineage_path, root_of
from punchline.artifacts.passes import CHAINED, DATA, JUDGE, Pass
from punchline.artifacts.project import Project
from punchline.artifacts.respondents import shown
from punchline.core import engine as engines
from punchline.core.benchmark import Verdict
from punchline.errors import PunchlineError, nearest
from punchline.files import write_bytes, write_text
from punchline.paths import DEFAULT_RUN
from punchline.prepare import files_of_table, naming, paths_of_table
from punchline.requests import asked_in_pass
from punchline.responses import read_verdicts
from punchline.schema import RULES, Rule
from punchline.scores import Digests, scores_frame
from punchline.tables.declare import Across, PublishedRow, Table
from punchline.tables.declare import Model as Shown
from punchline.tables.latex import as_latex
from punchline.tables.render import as_csv, as_markdown, notes_of, read_published
from punchline.tables.run import Answers, Measured, measure, rows_across, rows_of_model
from punchline.tables.tabulate import RETRY, TOLD, Tabulated, tabulate
from punchline.tabulate.labels import checked, labelled, verdicts_in
from punchline.tabulate.notes import (
    caveats,
    chosen,
    chosen_sources,
    separating,
    trained_on,
    unasked,
    unchecked,
    unknown_note,
    without_pictures,
)
from punchline.tabulate.ranks import items_of, ranks_text
from punchline.tabulate.respondents import Who, respondents_of, unknown_items, who_in
from punchline.tabulate.unparsed import unread_text
from punchline.workflow.lineage import code_of, files_behind, libraries_of
from punchline.workflow.processes import MIRROR

Made = tuple[Tabulated, list[Model], list[Asked]]  # a table, its models, who was asked about texts of the data


@dataclass
class Rows:
    """What tables have of models: rows under both rules, who answered, and scores where a table needs several."""

    measured: dict[tuple[str, Rule], list[Measured]] = field(default_factory=lambda: defaultdict(list))  # by table
    who: dict[str, Mapping[str, Who]] = field(default_factory=dict)  # by model
    unknown: dict[str, Sequence[str]] = field(default_factory=dict)  # items that the benchmark has not, likewise
    models: dict[Rule, list[Shown]] = field(default_factory=lambda: {rule: [] for rule in RULES})
    answers: dict[Rule, Answers] = field(default_factory=dict)
    checked: Collection[str] = ()  # judges with a verdict on a text that people have labeled


def rows_of(project: Project, benchmark: str, tables: Collection[Table], items: pd.DataFrame) -> Rows:
    """Rows of tables, model by model: frames are large, and kept only for tables of several models."""
    several = any(table.across is not None for table in tables)
    made, kept = Rows(), defaultdict[Rule, list[tuple[pd.DataFrame, Digests]]](list)
    for card in project.cards.values() if tables else ():
        scores, kind = project.paths.scores(benchmark, card.name), kind_of(card)
        made.who[card.name] = respondents_of(project, benchmark, card.name)
        made.unknown[card.name] = unknown_items(project, benchmark, card.name)
        for rule in RULES:
            frame, digests = scores_frame(scores, items, rule)
            answers = Answers([(frame, digests)])
            for table in tables:
                rows = rows_of_model(table, frame, items)
                made.measured[table.name, rule] += measure(rows, answers, card.name, kind, card.engine)
            if several:
                frame["row"] += sum(len(own) for own, _ in kept[rule])
                kept[rule].append((frame, digests))
                made.models[rule].append(Shown(card.name, kind, card.engine, frame))
    made.answers = {rule: Answers(kept[rule]) for rule in RULES}
    if made.who:
        verdicts = (verdicts_in(one.name, one.scores) for one in made.models["released"])
        made.checked = checked(labelled(project, benchmark, items), verdicts)
    return made


def compute(project: Project, benchmark: str, names: Collection[str]) -> dict[str, Made]:
    """{table: it, its models, who was asked about texts of the data}, of published values and files as they lie."""
    tables = [project.benchmark(benchmark).TABLES[name] for name in names]
    of_models = [table for table in tables if table.of_models]
    items = items_of(project, benchmark) if of_models else pd.DataFrame()
    rows = rows_of(project, benchmark, of_models, items)
    made = {}
    for table in tables:
        with naming(paths_of_table(project, benchmark, table.name)):
            made[table.name] = _table(project, benchmark, table, items, rows)
    return made


def _table(whole_project: Project, benchmark: str, table: Table, items: pd.DataFrame, rows: Rows) -> Made:
    project = Project(whole_project.part(benchmark, table.name))
    project.cards = {name: whole_project.cards[name] for name in project.selection.models}
    loaded, selection = project.benchmark(benchmark), project.selection
    models, notes = {}, []
    for name in selection.models if table.of_models else ():
        models[name], told = _model(project, benchmark, name, table.prices, rows.who[name])
        notes += [*told, *unknown_note(name, models[name].card, benchmark, rows.unknown[name])]
    printed = _printed(loaded.TABLES, table, paths.published(benchmark))
    files = files_of_table(project, benchmark, table.name)
    compared, passes, told = _compared(project, benchmark, table, files, printed)
    everyone = [*passes, *(pass_ for model in models.values() for pass_ in model.passes)]
    notes += [*told, *caveats(everyone), *unchecked(everyone, rows.checked)]
    notes += unasked(project, benchmark, table, list(models.values()), passes)
    if table.of_models and project.illustrated(benchmark):
        notes += without_pictures(project.paths.items(benchmark))
    rule = selection.scoring or table.published_rule
    measured, told = _measured(table, items, rows, files, models, rule)
    scores = {name: project.paths.scores(benchmark, name) for name in selection.models}
    if table.of_models and rule == table.published_rule:
        notes += behind_shortcuts(project.paths.csv("shortcuts", benchmark), table)
    notes += separating(table, measured[rule], scores, Across([], items, files), rule)
    measured[rule] += compared
    subset, of_items = chosen(project, benchmark) if table.of_models else (None, [])
    rows_in_paper = {name: model.card.printed_as(benchmark, table.name) for name, model in models.items()}
    if table.data is None:  # the paper's rows with the same keys follow those that are compared with them
        rows_in_paper |= {own.model: row["row"] for own in compared for row in printed}
    # Rows of the data itself are of the released files, whatever items are chosen.
    chosen_items = chosen_sources(project, benchmark) is not None or selection.subset or selection.limit is not None
    tabulated = tabulate(
        table,
        measured,
        printed + ([] if table.summed_up is None else table.summed_up(files)),
        rule=rule,
        complete=not selection.corpus.drawn and not (table.of_models and chosen_items),
        subset=subset,
        printed_as={name: row for name, row in rows_in_paper.items() if row is not None},
        notes=[*of_items, *told],
        retry=_retry(project),
        extractor=bool(selection.extractor),
    )
    tabulated.notes.extend(notes)
    return tabulated, list(models.values()), passes


def _measured(
    table: Table,
    items: pd.DataFrame,
    rows: Rows,
    files: Mapping[str, bytes],
    models: Mapping[str, Model],
    shown_rule: Rule,
) -> tuple[dict[Rule, list[Measured]], list[str]]:
    """(rows of the data under the rule that is shown; those of each model and of several, under both; notes)."""
    made: dict[Rule, list[Measured]] = {}
    notes: list[str] = []
    judges = {name: [one.card for one in model.passes if one.pass_ == JUDGE] for name, model in models.items()}
    for rule in RULES:
        data = [] if table.data is None or rule != shown_rule else table.data(files)
        made[rule] = measure(data, Answers([]), kind=table.kind) + rows.measured[table.name, rule]
        if table.across is not None:
            several = [
                replace(one, card=models[one.name].card, judge=next(iter(judges[one.name]), None))
                for one in rows.models[rule]
            ]
            told = notes if rule == shown_rule else []
            made[rule] += measure(rows_across(table, Across(several, items, files, told)), rows.answers[rule])
    return made, notes


def _printed(tables: Mapping[str, Table], spec: Table, file: str) -> list[PublishedRow]:
    """Printed values of a table. Raises PunchlineError for an unknown table or column."""
    rows = read_published(file)
    for row in rows:
        if row["table"] not in tables:
            raise PunchlineError("no such table", file=file, record=row["row"], hint=nearest(row["table"], tables))
        if row["table"] == spec.name and row["column"] not in spec.columns:
            what, hint = f"{spec.name} has no column {row['column']!r}", nearest(row["column"], spec.columns)
            raise PunchlineError(what, file=file, record=row["row"], hint=hint)
    return [row for row in rows if row["table"] == spec.name]


def _compared(
    project: Project, benchmark: str, spec: Table, files: Mapping[str, bytes], printed: Sequence[PublishedRow]
) -> tuple[list[Measured], list[Asked], list[str]]:
    """(rows that depend on scorers' verdicts on texts of the data itself, who they are, notes)."""
    passes: list[Asked] = []
    notes: list[str] = []
    verdicts: dict[str, Verdict] = {}
    for pass_ in project.answerers(benchmark, DATA) if spec.compared is not None else ():
        who = who_in(project.paths.snapshot(benchmark, DATA, pass_.name))
        asked, told = _asked(project, benchmark, pass_, who, "texts of the data", False)
        passes.append(asked)
        notes += told
        verdicts |= read_verdicts(pass_.who, asked_in_pass(project, benchmark, pass_.name, DATA))
    rows = spec.compared(files, printed, verdicts) if spec.compared is not None and verdicts else []
    return measure(rows, Answers([]), kind=spec.kind), passes, notes


def _retry(project: Project) -> str:
    run = project.selection.run
    return RETRY if run == DEFAULT_RUN else f"{RETRY} run={run}"


def _asked(
    project: Project, benchmark: str, pass_: Pass, who: Who, about: str, prices: bool
) -> tuple[Asked, list[str]]:
    """The respondent of a pass, as a table shows it, and notes."""
    notes = []
    if len(who.versions) > 1:
        notes.append(f"{about}, {pass_.name}: several engine versions answered: {', '.join(who.versions)}.")
    if pass_.name != CHAINED:
        notes += [
            f"INCOMPLETE: {pass_.name} by {pass_.who} failed for {about}: {reason}. `{_retry(project)}` asks again."
            for reason in who.failures
        ]
        if who.truncated > TOLD:
            notes.append(f"{about}: {who.truncated:.0%} of what {pass_.who} said ({pass_.name}) was cut off.")
    card = None if pass_.card is None else shown(pass_.card, benchmark, prices)
    return Asked(pass_=pass_.name, who=pass_.who, card=card, key=pass_.key, versions=who.versions), notes


def _model(
    project: Project, benchmark: str, name: str, prices: bool, who: Mapping[str, Who]
) -> tuple[Model, list[str]]:
    """A model as a table shows it, and notes on who answered."""
    card = shown(project.cards[name], benchmark, prices)
    versions = list(who[""].versions)
    notes = []
    if len(versions) > 1:
        notes.append(f"{name} was answered by several engine versions: {', '.join(versions)}.")
    passes = []
    for pass_ in project.answerers(benchmark, name):
        asked, told = _asked(project, benchmark, pass_, who[pass_.name], f"answers of {name}", prices)
        passes.append(asked)
        notes += told
    notes += [f"{name}: {card.caveat}."] if card.caveat else []
    notes += trained_on(card, project, benchmark)
    key = engines.model_key(project.engines[name], project.cards[name], benchmark)
    return Model(card=card, key=key, kind=kind_of(card), versions=versions, passes=tuple(passes)), notes


def rendered(project: Project, benchmark: str, table: str, made: Tabulated) -> dict[str, str]:
    """{path: text} of a table's own files."""
    spec = project.benchmark(benchmark).TABLES[table]
    path = Path(project.paths.table(spec.file))
    return {
        path.as_posix(): as_csv(made),
        path.with_suffix(".md").as_posix(): as_markdown(made, spec),
        path.with_suffix(".tex").as_posix(): as_latex(made, spec),
    }


def write_tables(project: Project, benchmark: str) -> None:
    """Write all tables of a benchmark with their lineages, its unparsed answers and the ranks of its models."""
    for table, made in compute(project, benchmark, list(project.benchmark(benchmark).TABLES)).items():
        _write(project, benchmark, table, made)
    write_text(project.paths.csv("unread", benchmark), unread_text(project, benchmark))
    write_text(project.paths.csv("ranks", benchmark), ranks_text(project, benchmark))


def _write(project: Project, benchmark: str, table: str, made: Made) -> None:
    tabulated, models, passes = made
    part, step = Project(project.part(benchmark, table)), project.table(benchmark, table)
    spec = part.benchmark(benchmark).TABLES[table]
    for name, text in rendered(part, benchmark, table, tabulated).items():
        write_bytes(name, text.encode())
    files = files_behind(part.table(benchmark, table))
    lineage = Lineage(
        format=FORMAT,
        benchmark=benchmark,
        table=table,
        selection=part.selection,
        models=models,
        compared=tuple(passes),
        cells=tabulated.cells,
        files=files,
        code=code_of(step),
        libraries=libraries_of(step),
        root=root_of(benchmark, table, part.selection, models, tabulated.cells, files, passes),
        noted=circumstances(os.environ.get(MIRROR) or None) | {"notes": notes_of(tabulated, spec)},
        sha256="",
    )
    write_bytes(lineage_path(step.outputs[0]), document(lineage))


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
