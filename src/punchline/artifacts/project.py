"""All artifacts of a selection, and the jobs that build them.

The one description of what depends on what: Snakemake's rules, provenance files, lineages and the audit use it. One
method per kind of artifact. Cheap to call: it reads cards and manifests, and the identity of engines.
"""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

from punchline import paths
from punchline.artifacts.answers import Answered
from punchline.artifacts.contents import files_beside, listed_files, printed
from punchline.artifacts.data import once
from punchline.artifacts.lineage import lineage_path, read_lineage
from punchline.artifacts.passes import ALL, CHAINED, DATA, JUDGE, RELEASED, card_of_released
from punchline.artifacts.respondents import role_of, shown
from punchline.core import benchmark as benchmarks
from punchline.schema import ModelCard
from punchline.workflow.processes import pictures_mode
from punchline.workflow.provenance import Artifact, Input, dependencies

DRAWING = ("altair", "vl-convert-python")
TABULATE, SITE = "punchline.tabulate.build", "punchline.report.site"
# Files on the validity of scores, per benchmark and over all (validity/build.py).
VALIDITY: tuple[str, ...] = (
    *("items", "picture_gain", "option_order", "corrected", "people", "votes", "repeats", "verdicts"),
)
SHORTCUTS = ("tables", "scoring", "ask", "baselines")  # modules of a benchmark that they use
SHARED: tuple[str, ...] = ("shortcuts", "links")


# The rules of Snakemake: the wildcards of each, and the kinds of artifact that one job builds, in order.
WILDCARDS: dict[str, tuple[str, ...]] = {
    "fetch": ("benchmark",),
    "prepare": ("benchmark",),
    "respond": ("respondent", "shard"),
    "score": ("benchmark", "model"),
    "tables": ("benchmark",),
    "overview": (),
    "report": (),
    "figure": ("table",),
    "train": ("adapter",),
}
KINDS = {
    "fetch": ("raw", "select_items", "images"),
    "prepare": ("pictures", "items", "gold", "requests"),
    "tables": ("tables", "validity"),
    "overview": ("overview", "shared"),
    "report": ("report_items", "report_answers", "report"),
}


class Project(Answered):
    """The artifacts of one selection."""

    def built_by(self, rule: str, *wildcards: str) -> list[Artifact]:
        """The artifacts that one job builds, in order."""
        selected = self.selection.benchmarks
        if rule == "respond":
            respondent, shard = wildcards
            if shard != ALL:
                return [self.shard(respondent, shard)]
            rounds = self.rounds(respondent)
            return [self.answers(benchmark, pass_, model) for benchmark, pass_, models in rounds for model in models]
        if rule == "figure":
            return [self.figure(*self.by_path[wildcards[0]])]
        if rule == "report":
            items = [self.report_items(name) for name in selected]
            answers = [self.report_answers(name, model) for name in selected for model in self.selection.models]
            return [*items, *answers, self.report()]
        if rule == "overview":
            return [self.overview(), *([self.shared()] if SHARED else [])]
        if rule not in KINDS:
            return [getattr(self, rule)(*wildcards)]
        (name,) = wildcards
        if name not in selected:  # a manifest of released runs
            return [self.raw(name)]
        without = () if self.illustrated(name) else ("images", "pictures")
        return [getattr(self, kind)(name) for kind in KINDS[rule] if kind not in without]

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
        return [(name,) for name in selected] if WILDCARDS[rule] else [()]

    @functools.cached_property
    def by_path(self) -> dict[str, tuple[str, str]]:
        """{path of a table below the results, without its ending: (benchmark, table)}."""
        return {
            spec.file.removesuffix(".csv"): (benchmark, name)
            for benchmark in self.selection.benchmarks
            for name, spec in self.benchmark(benchmark).TABLES.items()
        }

    # Scores and tables

    @once
    def score(self, benchmark: str, model: str) -> Artifact:
        judged = {pass_: who for pass_, who in self.passes(benchmark, model).items() if pass_ != CHAINED}
        loaded = self.benchmark(benchmark)
        return Artifact(
            "score",
            (benchmark, model),
            (self.paths.scores(benchmark, model),),
            (
                self._items(benchmark),
                self._gold(benchmark),
                *self._own(benchmark, model),
                *(need for pass_ in judged for need in self._pass(benchmark, pass_, model)),
            ),
            {"judges": judged},
            "punchline.score:write_model",
            (benchmarks.module_of(benchmark, "scoring"),),
            benchmarks.libraries(loaded, "score"),
        )

    def _scores(self, benchmark: str, model: str) -> Input:
        score = functools.partial(self.score, benchmark, model)
        return Input("scores", self.paths.scores(benchmark, model), score)

    def _answered(self, benchmark: str, model: str) -> list[Input]:
        """Indexes of a model's responses in all passes, and released files that it replays."""
        passes = (need for pass_ in self.passes(benchmark, model) for need in self._pass(benchmark, pass_, model)[1:])
        answers = {need.path: need for need in (*self._own(benchmark, model)[1:2], *passes)}
        return [*answers.values(), *self._released(self.engines[model])]

    @once
    def table(self, benchmark: str, table: str) -> Artifact:
        """One table: what its lineage names. It is built with all tables of the benchmark."""
        loaded = self.benchmark(benchmark)
        spec = loaded.TABLES[table]
        models = self.selection.models if spec.of_models else []
        needs = [*self._published(benchmark, lambda file: printed(file, table)), *self._files(benchmark, table)]
        if spec.of_models:
            needs += [*self._raw(benchmark, loaded.ITEM_FILES), *self._labels(benchmark)]
            needs += [self._items(benchmark), self._gold(benchmark), self._selected(benchmark)]
        shown: dict[str, Input] = {}
        for pass_, who in self.passes(benchmark, DATA).items() if spec.compared is not None else ():
            needs += self._pass(benchmark, pass_, DATA)
            shown[who] = self._card(self.judges[who], benchmark, spec.prices, f"{role_of(pass_)} card")
        for model in models:
            needs += [self._scores(benchmark, model), *self._answered(benchmark, model)]
            shown[model] = self._card(self.cards[model], benchmark, spec.prices, "model card")
            for pass_, who in self.passes(benchmark, model).items():  # no keys: a judge's weights may be absent
                if pass_ != CHAINED:
                    gives = card_of_released(self.engines[model]) if who == RELEASED else self.judges[who]
                    if gives is not None:
                        shown[gives.file] = self._card(gives, benchmark, spec.prices, f"{role_of(pass_)} card")
        needs += shown.values()
        csv = self.paths.table(spec.file)
        stem = csv.removesuffix(".csv")
        return Artifact(
            "table",
            (benchmark, table),
            (csv, f"{stem}.md", f"{stem}.tex", f"{stem}.lineage.json"),
            tuple({need.path: need for need in needs}.values()),
            {"selection": msgspec.to_builtins(self.part(benchmark, table))},
            f"{TABULATE}:write_tables",
            self._table_code(benchmark),
            benchmarks.libraries(loaded, "tables"),
        )

    def _files(self, benchmark: str, table: str) -> list[Input]:
        """The released files, those of runs, and the user's, that a table reads."""
        spec = self.benchmark(benchmark).TABLES[table]
        own = [path for name in spec.own if Path(path := paths.own(benchmark, name)).is_file()]
        runs = self._raw(paths.runs_of(benchmark), self.runs(benchmark, table))
        return [*self._raw(benchmark, spec.files), *runs, *(Input("user's file", path) for path in own)]

    def _labels(self, benchmark: str) -> list[Input]:
        """Files of people's labels of answers, and of released verdicts on the same."""
        labels = benchmarks.labels_of(benchmark)
        return [] if labels is None else self._files(benchmark, labels.SHOWN)

    def _table_code(self, benchmark: str) -> tuple[str, ...]:
        return tuple(benchmarks.module_of(benchmark, name) for name in ("tables", "data"))

    @once
    def tables(self, benchmark: str) -> Artifact:
        """All tables of a benchmark, its unparsed answers and the ranks of its models."""
        specs = self.benchmark(benchmark).TABLES
        tables = [self.table(benchmark, name) for name in specs]
        priced_last = sorted(tables, key=lambda table: specs[table.wildcards[1]].prices)  # cards with their prices
        needs = [need for table in priced_last for need in table.needs]
        needs += self._published(benchmark, lambda file: [printed(file, name) for name in specs])
        for model in self.selection.models:
            needs += [self._scores(benchmark, model), *self._answered(benchmark, model)]
        step = Artifact(
            "tables",
            (benchmark,),
            (
                *(path for table in tables for path in table.outputs),
                self.paths.unread(benchmark),
                self.paths.ranks(benchmark),
            ),
            tuple({need.path: need for need in needs}.values()),
            msgspec.to_builtins(self.part(benchmark, max(specs, key=lambda name: specs[name].of_models))),
            f"{TABULATE}:write_tables",
            self._table_code(benchmark),
            benchmarks.libraries(self.benchmark(benchmark), "tables"),
            names=lambda: [need for need, _ in dependencies(step)],  # lineages name all files behind a table
            record=self.paths.ranks(benchmark).replace("ranks.csv", "tables.made.json"),
        )
        return step

    @once
    def validity(self, benchmark: str) -> Artifact:
        """Files on the validity of one benchmark's scores."""
        needs, loaded = [*self._scored(benchmark), *self._labels(benchmark)], self.benchmark(benchmark)
        repeated, code = self.judged_repeatedly(benchmark), self._table_code(benchmark)
        for model in repeated:
            needs += [*self._own(benchmark, model), *self._pass(benchmark, JUDGE, model)]
        libraries = dict.fromkeys(name for stage in ("tables", "score") for name in benchmarks.libraries(loaded, stage))
        return Artifact(
            "validity",
            (benchmark,),
            tuple(self.paths.validity(benchmark, name) for name in VALIDITY),
            tuple({need.path: need for need in needs}.values()),
            msgspec.to_builtins(self.part(benchmark, next(iter(self.benchmark(benchmark).TABLES)))),
            "punchline.validity.build:write_validity",
            (*code, *([benchmarks.module_of(benchmark, "scoring")] if repeated else [])),
            tuple(libraries) if repeated else benchmarks.libraries(loaded, "tables"),
            job=self.tables(benchmark).job,
        )

    def _scored(self, benchmark: str) -> tuple[Input, ...]:
        """Scores of all models, with items, gold and published values."""
        scores = [self._scores(benchmark, model) for model in self.selection.models]
        printed_values = self._published(benchmark, lambda file: Path(file).read_text(encoding="utf-8"))
        people = benchmarks.people(benchmark)
        votes = self._raw(benchmark, people.FILES if people else ())
        return (*scores, self._items(benchmark), self._gold(benchmark), *votes, *printed_values)

    @once
    def shared(self) -> Artifact:
        """Files on the validity of scores over all benchmarks."""
        selected = self.selection.benchmarks
        return Artifact(
            "shared",
            (),
            tuple(self.paths.shared(name) for name in SHARED),
            tuple(need for name in selected for need in self._scored(name)),
            {},
            "punchline.validity.build:write_shared",
            tuple(benchmarks.module_of(name, part) for name in selected for part in SHORTCUTS),
            ("scikit-learn",),
            job=self.overview().job,
        )

    def _card(self, card: ModelCard, benchmark: str, prices: bool, role: str) -> Input:
        return Input(role, card.file, content=lambda: msgspec.to_builtins(shown(card, benchmark, prices)))

    def every_table(self) -> list[Artifact]:
        """Every table of the selected benchmarks."""
        return [self.table(*names) for names in self.by_path.values()]

    def _tables(self, *, of_models: bool = False) -> list[Input]:
        """CSV files of all tables; `of_models`: only of those that compare models."""
        return [
            Input("table", step.outputs[0], functools.partial(self.tables, step.wildcards[0]))
            for step in self.every_table()
            if not of_models or self.benchmark(step.wildcards[0]).TABLES[step.wildcards[1]].of_models
        ]

    @once
    def overview(self) -> Artifact:
        """The cost of all answers, main values, values that differ between the rules, images that are available."""

        def cells(path: str) -> list[str]:
            return [cell.digest for cell in read_lineage(path).cells]

        asked, where = self.asked(), self.paths
        prices = [[b, m, pass_, card.name, msgspec.to_builtins(card.price)] for b, m, pass_, card, _ in asked]
        needs = [(self._own(b, m) if pass_ == "answer" else self._pass(b, pass_, m))[1] for b, m, pass_, *_ in asked]
        needs += self._tables(of_models=True)
        for need in self._tables(of_models=True):
            path = str(lineage_path(need.path))
            needs.append(Input("lineage", path, need.step, functools.partial(cells, path)))
        illustrated = [name for name in self.selection.benchmarks if self.illustrated(name)]
        return Artifact(
            "overview",
            (),
            (where.cost, where.discrepancies, where.metrics, where.plots, *map(where.availability, illustrated)),
            tuple({need.path: need for need in (*needs, *map(self._ledger, illustrated))}.values()),
            {"asked": prices},
            "punchline.overview.build:write_overview",
            tuple(benchmarks.module_of(name, "tables") for name in self.selection.benchmarks),
        )

    @once
    def figure(self, benchmark: str, table: str) -> Artifact:
        """A table as a picture for a paper."""
        made = self.table(benchmark, table)
        stem = made.outputs[0].removesuffix(".csv")
        need = Input("table", made.outputs[0], functools.partial(self.tables, benchmark))
        code = (benchmarks.module_of(benchmark, "tables"),)
        outputs = (f"{stem}.svg", f"{stem}.pdf")
        return Artifact("figure", (benchmark, table), outputs, (need,), {}, f"{SITE}:write_figure", code, DRAWING)

    @once
    def report_items(self, benchmark: str) -> Artifact:
        """Items, what models were asked about them, and gold, for pages."""
        illustrated = self.illustrated(benchmark)
        index = Input("picture index", self.paths.index(benchmark), functools.partial(self.pictures, benchmark))
        pins = [Input("manifest", paths.manifest(benchmark, "images_pinned.csv"))] if self.pinned(benchmark) else []
        output = self.paths.report_items(benchmark)
        return Artifact(
            "report_items",
            (benchmark,),
            (output,),
            (
                *(self._items(benchmark), self._gold(benchmark), self._requests(benchmark)),
                *([index, self._ledger(benchmark), *pins] if illustrated else []),
            ),
            {},
            "punchline.report.items:write_items",
            tuple(self._shown(benchmark)),
            extra=lambda: files_beside(output),
            job=self._report,
        )

    def _shown(self, benchmark: str) -> list[str]:
        module = benchmarks.shown(benchmark)
        return [] if module is None else [module.__name__]

    @once
    def report_answers(self, benchmark: str, model: str) -> Artifact:
        """A model's answers and their grades, for pages."""
        passes = (need for pass_ in self.passes(benchmark, model) for need in self._pass(benchmark, pass_, model))
        needs = [self._items(benchmark), self._gold(benchmark), *self._own(benchmark, model), *passes]
        output = self.paths.report_answers(benchmark, model)
        return Artifact(
            "report_answers",
            (benchmark, model),
            (output,),
            tuple({need.path: need for need in (*needs, self._scores(benchmark, model))}.values()),
            {},
            "punchline.report.answers:write_answers",
            (benchmarks.module_of(benchmark, "scoring"), *self._shown(benchmark)),
            extra=lambda: files_beside(output),
            job=self._report,
        )

    @property
    def _report(self) -> str:
        """The first page, by which Snakemake knows the job of the report."""
        return f"{self.paths.report}/index.html"

    @once
    def report(self) -> Artifact:
        """Pages of all that the run has made."""
        needs, selected, where = self._tables(), self.selection.benchmarks, self.paths
        for name in selected:
            tables = functools.partial(self.tables, name)
            needs += [Input("unparsed answers", where.unread(name), tables), Input("ranks", where.ranks(name), tables)]
            needs += [self._items(name), self._requests(name)]
            validity = functools.partial(self.validity, name)
            needs += [Input("validity", path, validity) for path in validity().outputs]
            needs += [Input("pages", where.report_items(name), functools.partial(self.report_items, name))]
            for model in self.selection.models:
                answers = functools.partial(self.report_answers, name, model)
                needs += [Input("pages", where.report_answers(name, model), answers), self._scores(name, model)]
        views = [path for path in self.overview().outputs if path not in (where.metrics, where.plots)]
        needs += [Input("overview", path, self.overview) for path in views]
        needs += [Input("validity", path, self.shared) for path in self.shared().outputs]
        verdicts = [paths.audited(where.run, f"{table}.csv") for table in self.by_path]
        needs += [Input("verdict", path) for path in verdicts if Path(path).is_file()]
        return Artifact(
            "report",
            (),
            (self._report, f"{where.report}/files.json"),
            tuple(needs),
            {"pictures": pictures_mode(), "run": where.run},
            f"{SITE}:write_report",
            tuple(benchmarks.module_of(name, part) for name in selected for part in ("tables", "data")),
            ("jinja2", *DRAWING),
            extra=lambda: listed_files(f"{where.report}/files.json"),
        )
