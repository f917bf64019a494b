"""What every artefact of a selection rests on: the one place that says it.

The rules of Snakemake take their inputs from here, records of what was made (provenance.py) and lineages name what is
said here, and the audit walks it. One method an artefact; its name is the rule's, its parameters are the rule's
wildcards. Cheap: cards and manifests are read, and of engines their identity. Who is asked: asking.py.
"""

from __future__ import annotations

import functools
import inspect
from pathlib import Path

import msgspec

from punchline import paths
from punchline.core import benchmark as benchmarks
from punchline.project.answered import Answered
from punchline.project.asking import role_of, shown
from punchline.project.contents import files_beside, listed_files, printed
from punchline.project.hops import ALL, CHAINED, DATA, RELEASED, card_of_released
from punchline.project.lineage import lineage_path, read_lineage
from punchline.project.prepared import once
from punchline.project.processes import pictures_mode
from punchline.schema import ModelCard
from punchline.workflow.provenance import Artifact, Input, dependencies

DRAWING = ("altair", "vl-convert-python")


class Project(Answered):
    """The artefacts of one selection."""

    def steps_of(self, rule: str, *wildcards: str) -> list[Artifact]:
        """What one job of a rule makes: one step, or those of all benchmarks that one start of an engine serves."""
        if rule == "respond":
            respondent, shard = wildcards
            if shard != ALL:
                return [self.shard(respondent, shard)]
            rounds = self.rounds(respondent)
            return [self.answers(benchmark, hop, model) for benchmark, hop, models in rounds for model in models]
        if rule == "tables":
            return self.tables_of(*wildcards)
        return [getattr(self, rule)(*wildcards)]

    @staticmethod
    def wildcards(rule: str) -> tuple[str, ...]:
        """Names of a rule's wildcards, in order."""
        special: dict[str, tuple[str, ...]] = {"respond": ("respondent", "shard"), "tables": ("benchmark",)}
        return special.get(rule) or tuple(inspect.signature(getattr(Project, rule)).parameters)[1:]

    # Grades and tables

    @once
    def score(self, benchmark: str, model: str) -> Artifact:
        judged = {hop: who for hop, who in self.hops(benchmark, model).items() if hop != CHAINED}
        loaded = self.benchmark(benchmark)
        return Artifact(
            "score",
            (benchmark, model),
            (self.paths.scores(benchmark, model),),
            (
                self._items(benchmark),
                self._gold(benchmark),
                *self._own(benchmark, model),
                *(need for hop in judged for need in self._hop(benchmark, hop, model)),
            ),
            {"judges": judged},
            ("punchline.stages.score", benchmarks.module_of(benchmark, "scoring")),
            benchmarks.libraries(loaded, "score"),
        )

    def _scores(self, benchmark: str, model: str) -> Input:
        score = functools.partial(self.score, benchmark, model)
        return Input("scores", self.paths.scores(benchmark, model), score)

    def _answered(self, benchmark: str, model: str) -> list[Input]:
        """Answers of a model and, with its hops, of those that were asked about them; released answers besides."""
        hops = (need for hop in self.hops(benchmark, model) for need in self._hop(benchmark, hop, model)[1:])
        answers = {need.path: need for need in (*self._own(benchmark, model)[1:2], *hops)}
        return [*answers.values(), *self._released(self.engines[model])]

    @once
    def table(self, benchmark: str, table: str) -> Artifact:
        loaded = self.benchmark(benchmark)
        spec = loaded.TABLES[table]
        models = self.selection.models if spec.of_models else []
        own = [paths.own(benchmark, name) for name in spec.own]
        names = [*spec.files, *(loaded.ITEM_FILES if spec.of_models else ())]
        needs = [
            *self._published(benchmark, lambda file: printed(file, table)),
            *self._raw(benchmark, list(dict.fromkeys(names))),
            *self._raw(paths.runs_of(benchmark), self.runs(benchmark, table)),
            *(Input("user's file", path) for path in own if Path(path).is_file()),
        ]
        if spec.of_models:
            needs += [self._items(benchmark), self._gold(benchmark), self._selected(benchmark)]
        shown: dict[str, Input] = {}
        for hop, who in self.hops(benchmark, DATA).items() if spec.compared is not None else ():
            needs += self._hop(benchmark, hop, DATA)
            shown[who] = self._card(self.judges[who], benchmark, spec.prices, f"{role_of(hop)} card")
        for model in models:
            needs += [self._scores(benchmark, model), *self._answered(benchmark, model)]
            shown[model] = self._card(self.cards[model], benchmark, spec.prices, "model card")
            for hop, who in self.hops(benchmark, model).items():  # without keys: a judge's weights may not be there yet
                if hop != CHAINED:
                    gives = card_of_released(self.engines[model]) if who == RELEASED else self.judges[who]
                    if gives is not None:
                        shown[gives.file] = self._card(gives, benchmark, spec.prices, f"{role_of(hop)} card")
        needs += shown.values()
        csv = self.paths.table(spec.file)
        stem = csv.removesuffix(".csv")
        step = Artifact(
            "table",
            (benchmark, table),
            (csv, f"{stem}.md", f"{stem}.tex", f"{stem}.lineage.json"),
            tuple({need.path: need for need in needs}.values()),
            {"selection": msgspec.to_builtins(self.part(benchmark, table))},
            ("punchline.stages.tabulate", *(benchmarks.module_of(benchmark, name) for name in ("tables", "data"))),
            benchmarks.libraries(loaded, "tables"),
            names=lambda: [need for need, _ in dependencies(step)],  # its lineage names every file that it rests on
        )
        return step

    def _card(self, card: ModelCard, benchmark: str, prices: bool, role: str) -> Input:
        return Input(role, card.file, content=lambda: msgspec.to_builtins(shown(card, benchmark, prices)))

    def tables(self) -> list[Artifact]:
        """Every table of the selected benchmarks."""
        return [self.table(name, table) for name in self.selection.benchmarks for table in self.benchmark(name).TABLES]

    def tables_of(self, benchmark: str) -> list[Artifact]:
        """Every table of a benchmark: what one job makes."""
        return [self.table(benchmark, table) for table in self.benchmark(benchmark).TABLES]

    @once
    def unread(self, benchmark: str) -> Artifact:
        models = self.selection.models
        needs = [need for name in models for need in (self._scores(benchmark, name), *self._answered(benchmark, name))]
        return Artifact(
            "unread",
            (benchmark,),
            (self.paths.unread(benchmark),),
            tuple({need.path: need for need in needs}.values()),
            {},
            ("punchline.stages.unread",),
        )

    @once
    def ranks(self, benchmark: str) -> Artifact:
        """How sure the order of models in each table is."""
        loaded, selection = self.benchmark(benchmark), self.selection
        tables = [spec for spec in loaded.TABLES.values() if spec.of_models]
        files = dict.fromkeys(name for spec in tables for name in spec.files)
        runs = dict.fromkeys(name for spec in tables for name in self.runs(benchmark, spec.name))
        own = dict.fromkeys(paths.own(benchmark, name) for spec in tables for name in spec.own)
        cards = (
            Input("model card", card.file, content=functools.partial(lambda one: [one.asked(), one.base], card))
            for card in self.cards.values()
        )
        return Artifact(
            "ranks",
            (benchmark,),
            (self.paths.ranks(benchmark),),
            (
                self._items(benchmark),
                self._gold(benchmark),
                *(self._scores(benchmark, model) for model in selection.models),
                *cards,
                *self._raw(benchmark, list(files)),
                *self._raw(paths.runs_of(benchmark), list(runs)),
                *(Input("user's file", path) for path in own if Path(path).is_file()),
            ),
            {"scoring": selection.scoring},
            ("punchline.stages.ranks", *(benchmarks.module_of(benchmark, name) for name in ("tables", "data"))),
            benchmarks.libraries(loaded, "tables"),
        )

    @once
    def discrepancies(self) -> Artifact:
        def cells(path: str) -> list[str]:
            return [cell.digest for cell in read_lineage(path).cells]

        tables = {name: self.benchmark(name).TABLES for name in self.selection.benchmarks}
        steps = [step for step in self.tables() if tables[step.wildcards[0]][step.wildcards[1]].of_models]
        lineages = [(str(lineage_path(step.outputs[0])), step) for step in steps]
        needs = tuple(
            Input("lineage", path, functools.partial(self.table, *step.wildcards), functools.partial(cells, path))
            for path, step in lineages
        )
        code = ("punchline.stages.discrepancies", *(benchmarks.module_of(name, "tables") for name in tables))
        return Artifact("discrepancies", (), (self.paths.discrepancies,), needs, {}, code)

    @once
    def cost(self) -> Artifact:
        """What all answers have cost: of models, and of judges on them."""
        asked = self.asked()
        prices = [[b, m, hop, card.name, msgspec.to_builtins(card.price)] for b, m, hop, card, _ in asked]
        needs = tuple((self._own(b, m) if hop == "answer" else self._hop(b, hop, m))[1] for b, m, hop, *_ in asked)
        return Artifact("cost", (), (self.paths.cost,), needs, {"asked": prices}, ("punchline.stages.cost",))

    @once
    def metrics(self) -> Artifact:
        """The main column of every table that models are compared by."""
        code = [benchmarks.module_of(name, "tables") for name in self.selection.benchmarks]
        needs = [
            Input("table", step.outputs[0], functools.partial(self.table, *step.wildcards)) for step in self.tables()
        ]
        return Artifact(
            "metrics", (), (self.paths.metrics, self.paths.plots), tuple(needs), {}, ("punchline.stages.metrics", *code)
        )

    @once
    def figure(self, benchmark: str, table: str) -> Artifact:
        """A table as a picture for a paper."""
        made = self.table(benchmark, table)
        stem = made.outputs[0].removesuffix(".csv")
        need = Input("table", made.outputs[0], functools.partial(self.table, benchmark, table))
        code = ("punchline.report.site", benchmarks.module_of(benchmark, "tables"))
        return Artifact("figure", (benchmark, table), (f"{stem}.svg", f"{stem}.pdf"), (need,), {}, code, DRAWING)

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
            ("punchline.report.items", *self._shown(benchmark)),
            extra=lambda: files_beside(output),
        )

    def _shown(self, benchmark: str) -> list[str]:
        module = benchmarks.shown(benchmark)
        return [] if module is None else [module.__name__]

    @once
    def report_answers(self, benchmark: str, model: str) -> Artifact:
        """A model's answers and their grades, for pages."""
        hops = (need for hop in self.hops(benchmark, model) for need in self._hop(benchmark, hop, model))
        needs = [self._items(benchmark), self._gold(benchmark), *self._own(benchmark, model), *hops]
        output = self.paths.report_answers(benchmark, model)
        return Artifact(
            "report_answers",
            (benchmark, model),
            (output,),
            tuple({need.path: need for need in (*needs, self._scores(benchmark, model))}.values()),
            {},
            ("punchline.report.answers", benchmarks.module_of(benchmark, "scoring"), *self._shown(benchmark)),
            extra=lambda: files_beside(output),
        )

    @once
    def report(self) -> Artifact:
        """Pages to look at, of all that the run has made."""
        needs = [
            Input("table", step.outputs[0], functools.partial(self.table, *step.wildcards)) for step in self.tables()
        ]
        for name in self.selection.benchmarks:
            needs += [Input("unread answers", self.paths.unread(name), functools.partial(self.unread, name))]
            needs += [self._items(name), self._requests(name)]
            needs += [Input("ranks", self.paths.ranks(name), functools.partial(self.ranks, name))]
        needs += [
            Input("discrepancies", self.paths.discrepancies, self.discrepancies),
            Input("cost", self.paths.cost, self.cost),
        ]
        specs = (self.benchmark(benchmark).TABLES[table] for benchmark, table in (s.wildcards for s in self.tables()))
        verdicts = [paths.audited(self.selection.run, spec.file) for spec in specs]
        needs += [Input("verdict", path) for path in verdicts if Path(path).is_file()]
        folder, selected = self.paths.report, self.selection.benchmarks
        for name in selected:
            needs += [Input("pages", self.paths.report_items(name), functools.partial(self.report_items, name))]
            for model in self.selection.models:
                answers = functools.partial(self.report_answers, name, model)
                needs += [Input("pages", self.paths.report_answers(name, model), answers), self._scores(name, model)]
        return Artifact(
            "report",
            (),
            (f"{folder}/index.html", f"{folder}/files.json"),
            tuple(needs),
            {"pictures": pictures_mode(), "run": self.selection.run},
            (
                "punchline.report.site",
                *(benchmarks.module_of(name, part) for name in selected for part in ("tables", "data")),
            ),
            ("jinja2", *DRAWING),
            extra=lambda: listed_files(f"{folder}/files.json"),
        )
