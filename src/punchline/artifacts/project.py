"""All artifacts of a selection, and the jobs that build them.

The one description of what depends on what: Snakemake's rules, provenance files, lineages and the audit use it. One
method per kind of artifact. Cheap to call: it reads cards and manifests, and the identity of engines.
"""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

from punchline import paths
from punchline.artifacts.answers import AnswerArtifacts
from punchline.artifacts.contents import behind_shortcuts, files_beside, listed_files, printed
from punchline.artifacts.data import artifact
from punchline.artifacts.lineage import digests_of_cells, lineage_path
from punchline.artifacts.passes import ALL, CHAINED, DATA, JUDGE
from punchline.artifacts.run import card_in_tables, role_of
from punchline.core import benchmark as benchmarks
from punchline.workflow.code import COMMON, REPORT
from punchline.workflow.processes import is_public, pictures_mode
from punchline.workflow.provenance import Artifact, Input, dependencies

NUMBERS = ("numpy", "pandas", "scipy")  # packages that all tables and overviews compute with
SCORE_PACKAGES = ("numpy", "pandas")  # packages that all score files are computed and written with
DRAWING = ("vl-convert-python", "pyyaml")
TABULATE, SITE = "punchline.tabulate.build", "punchline.report.site"
# Files on the validity of scores, per benchmark and over all (validity/build.py).
VALIDITY = ("items", "picture_gain", "option_order", "corrected", "people", "votes", "repeats", "verdicts")
SHARED = ("shortcuts", "links")

# The rules of Snakemake, and the kinds of artifact that one job of a rule builds, in order.
RULES = ("fetch", "prepare", "respond", "score", "tables", "overview", "report", "figure", "train")
KINDS = {
    "fetch": ("raw", "select_items", "images"),
    "prepare": ("pictures", "items", "gold", "requests"),
    "tables": ("shortcuts", "tables", "validity"),
    "overview": ("overview", "shared"),
    "report": ("report_items", "report_answers", "report"),
}


class Project(AnswerArtifacts):
    """The artifacts of one selection."""

    def built_by(self, rule: str, *wildcards: str) -> list[Artifact]:
        """The artifacts that one job builds, in order."""
        selected = self.selection.benchmarks
        if rule == "respond":
            respondent, shard = wildcards
            return self.every_answer(respondent) if shard == ALL else [self.shard(respondent, shard)]
        if rule == "figure":
            return [self.figure(*self.by_path[wildcards[0]])]
        if rule == "report":
            items = [self.report_items(name) for name in selected]
            answers = [self.report_answers(name, model) for name in selected for model in self.selection.models]
            return [*items, *answers, self.report()]
        if rule == "fetch" and wildcards[0] not in selected:  # a manifest of released runs
            return [self.raw(*wildcards)]
        of_images = ("images", "pictures") if rule in ("fetch", "prepare") else ()
        without = of_images if of_images and not self.illustrated(*wildcards) else ()
        return [getattr(self, kind)(*wildcards) for kind in KINDS.get(rule, (rule,)) if kind not in without]

    def jobs(self, rule: str) -> list[tuple[str, ...]]:
        """Wildcards of all jobs of a rule in the selection; of `respond`, those of whole respondents."""
        selected, models = self.selection.benchmarks, self.selection.models
        if rule == "fetch":
            return [(name,) for name in self.manifests]
        if rule == "respond":
            return [(name, ALL) for name in self.respondents]
        if rule == "score":
            return [(name, model) for name in selected for model in models]
        if rule == "figure":
            tables = {path: self.benchmark(name).TABLES[table] for path, (name, table) in self.by_path.items()}
            return [(path,) for path, spec in tables.items() if spec.chart or spec.of_models]
        return [()] if rule in ("overview", "report") else [(name,) for name in selected]

    @functools.cached_property
    def by_path(self) -> dict[str, tuple[str, str]]:
        """{path of a table below the results, without its ending: (benchmark, table)}."""
        return {
            spec.file.removesuffix(".csv"): (benchmark, name)
            for benchmark in self.selection.benchmarks
            for name, spec in self.benchmark(benchmark).TABLES.items()
        }

    # Scores and tables

    @artifact
    def score(self, benchmark: str, model: str) -> Artifact:
        judges = {pass_: who for pass_, who in self.passes(benchmark, model).items() if pass_ != CHAINED}
        return Artifact(
            (self.paths.scores(benchmark, model),),
            self._to_be_scored(benchmark, model),
            "punchline.score:write_model",
            {"judges": judges},
            (COMMON, benchmark),
            (*SCORE_PACKAGES, *self.benchmark(benchmark).LIBRARIES.get("score", ())),
        )

    def _scored(self, benchmark: str, model: str) -> list[Input]:
        """A model's scores, indexes of its responses in all passes, and released files that it replays."""
        snapshots = [self._responses(benchmark, pass_, model) for pass_ in ("", *self.passes(benchmark, model))]
        return [self._scores(benchmark, model), *snapshots, *self._released(self.engines[model])]

    def _scores(self, benchmark: str, model: str) -> Input:
        return self.score(benchmark, model).output("scores")

    @artifact
    def table(self, benchmark: str, table: str) -> Artifact:
        """One table: what its lineage names. It is built with all tables of the benchmark."""
        loaded = self.benchmark(benchmark)
        spec = loaded.TABLES[table]
        inputs = [*self._published(benchmark, lambda file: printed(file, table)), *self._files(benchmark, table)]
        compared = self.passes(benchmark, DATA) if spec.compared is not None else {}
        inputs += [need for pass_ in compared for need in self._pass(benchmark, pass_, DATA)]
        passes = [(pass_, who, DATA) for pass_, who in compared.items()]
        models = self.selection.models if spec.of_models else []
        if spec.of_models:
            inputs += [*self._raw(benchmark, loaded.ITEM_FILES), *self._labels(benchmark)]
            inputs += [*self._items_and_gold(benchmark), self._selected(benchmark)]
            file = self.paths.csv("shortcuts", benchmark)
            behind = functools.partial(behind_shortcuts, file, spec)
            inputs.append(Input("shortcuts", file, self.shortcuts(benchmark), behind))
        for model in models:
            inputs += self._scored(benchmark, model)
            passes += [(*of, model) for of in self.passes(benchmark, model).items() if of[0] != CHAINED]
        cards = [("model card", self.cards[model]) for model in models]
        cards += [(f"{role_of(of[0])} card", card) for of in passes if (card := self.card_for(*of)) is not None]
        for role, card in cards:  # without keys: a judge's weights may be absent
            content = functools.partial(card_in_tables, card, benchmark, spec.prices)
            inputs.append(Input(role, card.file, content=content))
        csv = self.paths.table(spec.file)
        stem = csv.removesuffix(".csv")
        return Artifact(
            (csv, f"{stem}.md", f"{stem}.tex", f"{stem}.lineage.json"),
            inputs,
            f"{TABULATE}:write_tables",
            {"selection": msgspec.to_builtins(self.part(benchmark, table))},
            (COMMON, benchmark),
            (*NUMBERS, *loaded.LIBRARIES.get("tables", ())),
        )

    def _files(self, benchmark: str, table: str) -> list[Input]:
        """The released files, those of runs, and the user's, that a table reads."""
        spec = self.benchmark(benchmark).TABLES[table]
        user_files = [path for name in spec.own if Path(path := paths.own(benchmark, name)).is_file()]
        runs = self._raw(paths.runs_of(benchmark), self.runs(benchmark, table))
        return [*self._raw(benchmark, spec.files), *runs, *(Input("user's file", path) for path in user_files)]

    def _labels(self, benchmark: str) -> list[Input]:
        """Files of people's labels of answers, and of released verdicts on the same."""
        labels = benchmarks.optional_module(benchmark, "labels")
        return [] if labels is None else self._files(benchmark, labels.SHOWN)

    @artifact
    def tables(self, benchmark: str) -> Artifact:
        """All tables of a benchmark, its unparsed answers and the ranks of its models."""
        loaded, ranks = self.benchmark(benchmark), self.paths.csv("ranks", benchmark)
        specs = loaded.TABLES
        tables = [self.table(benchmark, name) for name in specs]
        priced_last = sorted(tables, key=lambda table: specs[table.wildcards[1]].prices)  # cards with their prices
        inputs = [need for table in priced_last for need in table.inputs]
        inputs += self._published(benchmark, lambda file: [printed(file, name) for name in specs])
        inputs += [need for model in self.selection.models for need in self._scored(benchmark, model)]
        job = Artifact(
            (*(path for table in tables for path in table.outputs), self.paths.csv("unread", benchmark), ranks),
            inputs,
            f"{TABULATE}:write_tables",
            msgspec.to_builtins(self.part(benchmark, max(specs, key=lambda name: specs[name].of_models))),
            (COMMON, benchmark),
            (*NUMBERS, *loaded.LIBRARIES.get("tables", ())),
            names=lambda: dependencies(job),  # lineages name all files behind a table
            record=ranks.replace("ranks.csv", "tables.made.json"),
        )
        return job

    @artifact
    def validity(self, benchmark: str) -> Artifact:
        """Files on the validity of one benchmark's scores."""
        inputs, loaded = [*self._all_scores(benchmark), *self._labels(benchmark)], self.benchmark(benchmark)
        repeated = self.judged_repeatedly(benchmark)
        for model in repeated:
            inputs += [*self._own_answers(benchmark, model), *self._pass(benchmark, JUDGE, model)]
        stages = ("tables", "score") if repeated else ("tables",)
        return Artifact(
            tuple(self.paths.csv(name, benchmark) for name in VALIDITY),
            inputs,
            "punchline.validity.build:write_validity",
            msgspec.to_builtins(self.part(benchmark, next(iter(loaded.TABLES)))),
            (COMMON, benchmark),
            tuple(dict.fromkeys([*NUMBERS, *(name for stage in stages for name in loaded.LIBRARIES.get(stage, ()))])),
            job=self.tables(benchmark).job,
        )

    @artifact
    def shortcuts(self, benchmark: str) -> Artifact:
        """Shortcuts through a benchmark's closed questions, which its tables name."""
        return Artifact(
            (self.paths.csv("shortcuts", benchmark),),
            self._all_scores(benchmark),
            "punchline.validity.build:write_shortcuts",
            code=(COMMON, benchmark),
            libraries=(*NUMBERS, "scikit-learn"),
            job=self.paths.table(next(iter(self.benchmark(benchmark).TABLES.values())).file),
        )

    def _all_scores(self, benchmark: str) -> list[Input]:
        """Scores of all models, with items, gold and published values."""
        scores = [self._scores(benchmark, model) for model in self.selection.models]
        printed_values = self._published(benchmark, lambda file: Path(file).read_text(encoding="utf-8"))
        votes = self._raw(benchmark, getattr(benchmarks.optional_module(benchmark, "people"), "FILES", ()))
        return [*scores, *self._items_and_gold(benchmark), *votes, *printed_values]

    @artifact
    def shared(self) -> Artifact:
        """Files on the validity of scores over all benchmarks."""
        selected = self.selection.benchmarks
        return Artifact(
            tuple(self.paths.csv(name) for name in SHARED),
            [need for name in selected for need in (*self._all_scores(name), self.shortcuts(name).output())],
            "punchline.validity.build:write_shared",
            code=(COMMON, *selected),
            libraries=NUMBERS,
            job=self.overview().job,
        )

    def every_table(self) -> list[Artifact]:
        """Every table of the selected benchmarks."""
        return [self.table(*names) for names in self.by_path.values()]

    def _csv(self, *, of_models: bool = False) -> list[Input]:
        """CSV files of all tables; `of_models`: only of those that compare models."""
        return [
            Input("table", self.paths.table(spec.file), self.tables(benchmark))
            for benchmark in self.selection.benchmarks
            for spec in self.benchmark(benchmark).TABLES.values()
            if spec.of_models or not of_models
        ]

    @artifact
    def overview(self) -> Artifact:
        """The cost of all answers, main values, values that differ between the rules, images that are available."""
        requests, where = self.asked_passes(), self.paths
        inputs = [self._responses(b, pass_.removeprefix("answer"), model) for b, model, pass_, *_ in requests]
        for table in self._csv(of_models=True):
            path = str(lineage_path(table.path))
            inputs += [table, Input("lineage", path, table.artifact, functools.partial(digests_of_cells, path))]
        illustrated = [name for name in self.selection.benchmarks if self.illustrated(name)]
        return Artifact(
            (
                *(where.csv("cost"), where.csv("discrepancies"), where.metrics, where.csv("metrics")),
                *(where.csv("availability", name) for name in illustrated),
            ),
            [*inputs, *map(self._fetch_log, illustrated)],
            "punchline.overview.build:write_overview",
            {"asked": [[*names, card.name, msgspec.to_builtins(card.price)] for *names, card, _ in requests]},
            (COMMON, *self.selection.benchmarks),
            NUMBERS,
        )

    @artifact
    def figure(self, benchmark: str, table: str) -> Artifact:
        """A table as a picture for a paper."""
        csv = self.paths.table(self.benchmark(benchmark).TABLES[table].file)
        return Artifact(
            tuple(csv.removesuffix("csv") + suffix for suffix in ("svg", "pdf")),
            [Input("table", csv, self.tables(benchmark))],
            f"{SITE}:write_figure",
            code=(REPORT, benchmark),
            libraries=DRAWING,
        )

    # The report

    @artifact
    def report_items(self, benchmark: str) -> Artifact:
        """Items, what models were asked about them, and gold, for pages."""
        has_pins = self.illustrated(benchmark) and self.pinned(benchmark)
        pins = [Input("manifest", paths.manifest(benchmark, "images_pinned.csv"))] if has_pins else []
        output = self.paths.report_items(benchmark)
        return Artifact(
            (output,),
            [*self._items_and_gold(benchmark), self.requests(benchmark).output(), *self._pictures(benchmark), *pins],
            "punchline.report.items:write_items",
            {"public": is_public()},
            code=(REPORT, benchmark),
            extra=lambda: files_beside(output),
            job=self._report,
        )

    @artifact
    def report_answers(self, benchmark: str, model: str) -> Artifact:
        """A model's answers and their grades, for pages."""
        output = self.paths.report_answers(benchmark, model)
        return Artifact(
            (output,),
            [*self._to_be_scored(benchmark, model), self._scores(benchmark, model)],
            "punchline.report.answers:write_answers",
            {"public": is_public()},
            code=(REPORT, benchmark),
            extra=lambda: files_beside(output),
            job=self._report,
        )

    @property
    def _report(self) -> str:
        """The first page, by which Snakemake knows the job of the report."""
        return f"{self.paths.report}/index.html"

    @artifact
    def report(self) -> Artifact:
        """Pages of all that the run has made."""
        inputs, selected, where = self._csv(), self.selection.benchmarks, self.paths
        for name in selected:
            tables, validity = self.tables(name), self.validity(name)
            inputs += [tables.output("unparsed answers", -2), tables.output("ranks", -1), self.shortcuts(name).output()]
            inputs += [self.items(name).output(), self.requests(name).output(), self.report_items(name).output("pages")]
            inputs += [Input("validity", path, validity) for path in validity.outputs]
            for model in self.selection.models:
                inputs += [self.report_answers(name, model).output("pages"), self._scores(name, model)]
        overview, shared = self.overview(), self.shared()
        views = [path for path in overview.outputs if path not in (where.metrics, where.csv("metrics"))]
        inputs += [Input("overview", path, overview) for path in views]
        inputs += [Input("validity", path, shared) for path in shared.outputs]
        verdicts = [paths.audited(where.run, f"{table}.csv") for table in self.by_path]
        inputs += [Input("verdict", path) for path in verdicts if Path(path).is_file()]
        listed = f"{where.report}/files.json"
        return Artifact(
            (self._report, listed),
            inputs,
            f"{SITE}:write_report",
            {"pictures": pictures_mode(), "public": is_public(), "run": where.run},
            (REPORT, *selected),
            ("jinja2", *DRAWING),
            extra=lambda: listed_files(listed),
        )
