"""Tables of a benchmark from scores: CSV, Markdown, LaTeX, each with its lineage."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from msgspec.structs import replace

from punchline import __version__, paths
from punchline.artifacts.contents import behind_shortcuts
from punchline.artifacts.lineage import FORMAT, Lineage, Model, Respondent, document, kind_of, lineage_path, root_of
from punchline.artifacts.passes import CHAINED, DATA
from punchline.artifacts.project import Project
from punchline.artifacts.run import Run, card_in_tables
from punchline.core import engine as engines
from punchline.core.benchmark import Verdict
from punchline.core.storage import rows_in
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
from punchline.tables.tabulate import RETRY, Tabulated, tabulate
from punchline.tabulate.labels import checked, read_labels, verdicts_in
from punchline.tabulate.notes import chosen, separating, trained_on, unasked, unknown_items, without_pictures
from punchline.tabulate.ranks import items_of, ranks_text, read_models
from punchline.tabulate.unparsed import unparsed_csv
from punchline.workflow.code import version_of
from punchline.workflow.lineage import code_of, files_behind, libraries_of
from punchline.workflow.processes import MIRROR

# A table, the models in it, who was asked about texts of the data, and the ranks of the models.
TableResult = tuple[Tabulated, list[Model], list[Respondent], list[Rank]]


class Tables:
    """Tables of one benchmark in a selection. What several of them depend on is read once."""

    def __init__(self, run: Run, benchmark: str) -> None:
        self.run, self.benchmark, self.loaded = run, benchmark, run.benchmark(benchmark)
        name = run.selection.run
        self.retry = RETRY if name == DEFAULT_RUN else f"{RETRY} run={name}"
        self.model = functools.cache(self._model)

    @functools.cached_property
    def items(self) -> pd.DataFrame:
        """The items of the selection."""
        return items_of(self.run, self.benchmark)

    @functools.cached_property
    def scored(self) -> dict[Rule, tuple[list[Shown], Answers]]:
        """The models' scores under each rule."""
        return {rule: read_models(self.run, self.benchmark, self.items, rule) for rule in RULES}

    @functools.cached_property
    def checked(self) -> set[str]:
        """Judges with a verdict on a text that people have labeled."""
        verdicts = [verdicts_in(one.name, one.scores) for one in self.scored["released"][0]]
        return checked(read_labels(self.run, self.benchmark, self.items), verdicts)

    @functools.cached_property
    def printed(self) -> list[PublishedRow]:
        """Printed values of the benchmark's tables."""
        return _printed(self.loaded.TABLES, self.benchmark)

    def compute(self, name: str) -> TableResult:
        """One table, of published values and files as they lie."""
        with naming(paths_of_table(self.run, self.benchmark, name)):
            return self._compute(self.loaded.TABLES[name], files_of_table(self.run, self.benchmark, name))

    def _compute(self, table: Table, files: Mapping[str, bytes]) -> TableResult:
        run, benchmark = self.run, self.benchmark
        selection = run.part(benchmark, table.name)
        printed = [row for row in self.printed if row["table"] == table.name]
        rule = selection.scoring or table.published_rule
        described = [self.model(name, table.prices) for name in run.cards if table.of_models]
        models = [model for model, _ in described]
        compared, of_passes, of_compared = self._compared(table, rule, files, printed)
        measured, rows, across_notes = self._measured(table, files, rule)
        measured[rule] += of_compared
        subset, of_items = chosen(run, benchmark) if table.of_models else (None, [])
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
            retry=self.retry,
            extractor=bool(selection.extractor),
        )
        passes = [*compared, *(pass_ for model in models for pass_ in model.passes)]
        notes = [note for _, own in described for note in own] + of_passes
        notes += unasked(run, benchmark, table, passes, self.checked if table.of_models else ())
        notes += without_pictures(run, benchmark) if table.of_models else []
        if table.of_models and rule == table.published_rule:
            notes += behind_shortcuts(run.paths.csv("shortcuts", benchmark), table)
        tabulated.notes.extend(notes + separating(table, rows))
        column = main_column(table)
        return tabulated, models, compared, [] if column is None else ranks_in(table, column, rows)

    def _measured(
        self, table: Table, files: Mapping[str, bytes], rule: Rule
    ) -> tuple[dict[Rule, list[Measured]], list[Row], list[str]]:
        """(rows under both rules, those of the data under `rule`, which is shown; the models' rows under it; notes)."""
        measured: dict[Rule, list[Measured]] = {each: [] for each in RULES}
        shown, notes = list[Row](), list[str]()
        measured[rule] += measure(table, rule, table.data(files) if table.data is not None else (), kind=table.kind)
        for each, (models, answers) in self.scored.items() if table.of_models else ():
            rows = rows_of(table, Across(models, self.items, files, notes if each == rule else []))
            measured[each] += measure(table, each, rows, answers)
            shown = rows if each == rule else shown
        return measured, shown, notes

    def _compared(
        self, table: Table, rule: Rule, files: Mapping[str, bytes], printed: Sequence[PublishedRow]
    ) -> tuple[list[Respondent], list[str], list[Measured]]:
        """(who was asked about texts of the data; notes on them; rows of what they said)."""
        if table.compared is None:
            return [], [], []
        verdicts: dict[str, Verdict] = {}
        passes, notes = self._passes(DATA, "texts of the data", False)
        for pass_ in passes:
            verdicts |= read_verdicts(pass_.who, exchanges_in_pass(self.run, self.benchmark, pass_.pass_, DATA))
        rows = table.compared(files, printed, verdicts) if verdicts else []
        return passes, notes, measure(table, rule, rows, kind=table.kind)

    def _passes(self, model: str, about: str, prices: bool) -> tuple[list[Respondent], list[str]]:
        """(respondents of the passes about a model's answers, or about DATA, as a table shows them; their failures)."""
        respondents, notes = [], []
        for pass_ in self.run.answerers(self.benchmark, model):
            versions, failures = _answerers(self.run.paths.responses(self.benchmark, model, pass_.pass_))
            card = None if pass_.card is None else card_in_tables(pass_.card, self.benchmark, prices)
            respondents.append(replace(pass_, card=card, versions=versions))
            failed = f"INCOMPLETE: {pass_.pass_} by {pass_.who} failed for {about}"
            reasons = failures if pass_.pass_ != CHAINED else []
            notes += [f"{failed}: {reason}. `{self.retry}` asks again." for reason in reasons]
        return respondents, notes

    def _model(self, name: str, prices: bool) -> tuple[Model, list[str]]:
        """A model as a table shows it, and notes on it."""
        run, benchmark = self.run, self.benchmark
        card = card_in_tables(run.cards[name], benchmark, prices)
        versions, _ = _answerers(run.paths.responses(benchmark, name))
        passes, notes = self._passes(name, f"answers of {name}", prices)
        key = engines.model_key(run.engines[name], run.cards[name], benchmark)
        model = Model(card=card, key=key, kind=kind_of(card), versions=list(versions), passes=tuple(passes))
        notes += [f"{name}: {card.caveat}."] if card.caveat else []
        return model, notes + trained_on(card, run, benchmark) + unknown_items(run, benchmark, name)


def _answerers(responses: str) -> tuple[tuple[str, ...], list[str]]:
    """(engine versions, reasons of failures) in an index."""
    rows = {*rows_in(responses, ("engine", "engine_version", "state", "reason"))}
    versions = {f"{engine} {version}" for engine, version, *_ in rows}
    failures = {reason or "no reason given" for *_, state, reason in rows if state == "failed"}
    return tuple(sorted(versions)), sorted(failures)


def _printed(tables: Mapping[str, Table], benchmark: str) -> list[PublishedRow]:
    """Printed values of a benchmark. Raises PunchlineError for an unknown table or column."""
    file = paths.published(benchmark)
    rows = read_published(file)
    for row in rows:
        check_known(row["table"], tables, "no such table", file=file, record=row["row"])
        what = f"{row['table']} has no column {row['column']!r}"
        check_known(row["column"], tables[row["table"]].columns, what, file=file, record=row["row"])
    return rows


def rendered(run: Run, benchmark: str, table: str, tabulated: Tabulated) -> dict[str, str]:
    """{path: text} of a table's own files."""
    spec = run.benchmark(benchmark).TABLES[table]
    texts = {".csv": as_csv(tabulated), ".md": as_markdown(tabulated, spec), ".tex": as_latex(tabulated, spec)}
    path = Path(run.paths.table(spec.file))
    return {path.with_suffix(suffix).as_posix(): text for suffix, text in texts.items()}


def write_tables(run: Run, benchmark: str) -> None:
    """Write all tables of a benchmark with their lineages, its unparsed answers and the ranks of its models."""
    tables, noted, ranks = Tables(run, benchmark), circumstances(), {}
    for table in tables.loaded.TABLES:
        result = tables.compute(table)
        _write(run, benchmark, table, result, noted)
        *_, ranks[table] = result
    write_text(run.paths.csv("unread", benchmark), unparsed_csv(run, benchmark))
    write_text(run.paths.csv("ranks", benchmark), ranks_text(run, benchmark, ranks))


def _write(run: Run, benchmark: str, table: str, result: TableResult, noted: Mapping[str, Any]) -> None:
    part = run.part(benchmark, table)
    artifact = Project(part).table(benchmark, table)  # what a lineage names is what the graph describes
    tabulated, models, compared, _ = result
    for name, text in rendered(run, benchmark, table, tabulated).items():
        write_text(name, text)
    lineage = Lineage(
        format=FORMAT,
        benchmark=benchmark,
        table=table,
        selection=part,
        models=models,
        compared=tuple(compared),
        cells=tabulated.cells,
        files=files_behind(artifact),
        code=code_of(artifact),
        libraries=libraries_of(artifact),
        root="",
        noted={**noted, "notes": notes_of(tabulated, run.benchmark(benchmark).TABLES[table])},
        sha256="",
    )
    write_bytes(lineage_path(artifact.outputs[0]), document(replace(lineage, root=root_of(lineage))))


def circumstances() -> dict[str, Any]:
    """Circumstances of a run, which are compared with nothing: commit, dirty flag, time, mirror, versions, platform."""

    def git(command: str) -> str | None:
        done = subprocess.run(["git", *command.split()], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    dirty = git("status --porcelain --untracked-files=no")
    packages = ("snakemake", "opencv-python-headless", "jiwer", "numpy", "pyarrow", "rapidocr")
    return {
        "commit": git("rev-parse HEAD"),
        "dirty": None if dirty is None else bool(dirty),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "mirror": os.environ.get(MIRROR) or None,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {"punchline": __version__} | {name: version_of(name) for name in packages},
    }
