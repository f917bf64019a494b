"""What every artefact of a selection rests on: the one place that says it.

The rules of Snakemake take their inputs from here, records of what was made (provenance.py) and lineages name what is
said here, and the audit walks it. One method an artefact; its name is the rule's, its parameters are the rule's
wildcards. Cheap: cards and manifests are read, and of engines their identity. Who is asked: asking.py.
"""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import Any

import msgspec

from punchline.core import benchmark as benchmarks
from punchline.core.engine import Engine
from punchline.core.records import ModelCard, Request, digest_of_all
from punchline.core.storage import digests_in, read_table
from punchline.project import adapters, paths, recipes, small_models
from punchline.project.asking import key_so_far, role_of, shown
from punchline.project.contents import answers_in, files_beside, listed_files, printed
from punchline.project.hops import CHAINED, DATA, RELEASED, by_journal, card_of_released
from punchline.project.prepared import Prepared, once
from punchline.project.processes import pictures_mode
from punchline.project.provenance import Need, Step, walk
from punchline.project.selection import read_card

DRAWING = ("altair", "vl-convert-python")


class Project(Prepared):
    """The artefacts of one selection."""

    def steps_of(self, rule: str, *wildcards: str) -> list[Step]:
        """What one job of a rule makes: one step, or those of all benchmarks that one start of an engine serves."""
        if rule == "infer":
            return [self.snapshot(benchmark, *wildcards) for benchmark in self.selection.benchmarks]
        if rule == "infer_shard":
            return [self.shard(benchmark, *wildcards) for benchmark in self.selection.benchmarks]
        if rule == "infer_chained":
            (model,) = wildcards
            chained = [name for name in self.selection.benchmarks if CHAINED in self.hops(name, model)]
            return [self.hop_snapshot(benchmark, CHAINED, model) for benchmark in chained]
        if rule == "judge":
            return [self.hop_snapshot(*names) for names in self.judged.get(wildcards[0], [])]
        return [getattr(self, rule)(*wildcards)]

    @staticmethod
    def wildcards(rule: str) -> tuple[str, ...]:
        """Names of a rule's wildcards, in order."""
        special = {
            "infer": ("model",),
            "infer_shard": ("model", "shard"),
            "infer_chained": ("model",),
            "judge": ("judge",),
        }
        return special.get(rule) or tuple(inspect.signature(getattr(Project, rule)).parameters)[1:]

    # Questions and answers

    @once
    def ask(self, benchmark: str) -> Step:
        return Step(
            "ask",
            (benchmark,),
            (self.paths.requests(benchmark),),
            (self._items(benchmark),),
            {"samples": self.selection.samples, "conditions": self.conditions(benchmark)},
            ("punchline.stages.ask", benchmarks.module_of(benchmark, "ask")),
        )

    def _requests(self, benchmark: str) -> Need:
        return Need("requests", self.paths.requests(benchmark), functools.partial(self.ask, benchmark))

    def _weights(self, card: ModelCard) -> list[Need]:
        """What has to be built before a model can be loaded: small models that the project makes itself, adapters."""
        found = []
        if name := small_models.builder_of(str(card.options.get("id", ""))):
            found.append(Need("model", paths.small_model(name), functools.partial(self.small_model, name)))
        elif (folder := str(card.options.get("id", ""))) and Path(folder).is_dir():  # weights of the user's own
            own = sorted(path.as_posix() for path in Path(folder).rglob("*") if path.is_file())
            found += [Need("model", path) for path in own]
        adapter = card.options.get("adapter")
        if isinstance(adapter, str):
            trains = recipes.can_train(card, adapter, self.selection.benchmarks)
            step = functools.partial(self.finetune, adapter) if trains else None
            found.append(Need("adapter", paths.adapter(adapter), step))
        return found

    @once
    def small_model(self, name: str) -> Step:
        code = ("punchline.project.small_models",)
        beside = paths.record_of(paths.folder_of(paths.small_model(name)))  # in the folder it would be one of its files
        return Step("small_model", (name,), (paths.small_model(name),), (), {}, code, record=beside)

    @once
    def finetune(self, adapter: str) -> Step:
        """An adapter. Of which items it was trained is in its manifest: another selection trains nothing anew."""
        recipe = recipes.read_recipe(adapter)
        base = read_card(recipe.base)
        items, gold = self._items(recipe.benchmark), self._gold(recipe.benchmark)
        before = [need._replace(decides=False) for need in (items, gold)]
        return Step(
            "finetune",
            (adapter,),
            (paths.adapter(adapter),),
            (*before, *self._weights(base)),
            {
                "recipe": msgspec.to_builtins(recipe),
                "base": base.asked(),
                "corpus": self.selection.corpus.name,
            },
            (),
            extra=lambda: adapters.files_beside(adapter),
            extra_role="adapter",
            record=paths.record_of(paths.folder_of(paths.adapter(adapter))),
        )

    def _answering(self, card: ModelCard, engine: Engine, benchmark: str) -> tuple[list[Need], dict[str, Any]]:
        """(files, parameters) that decide what an engine answers, apart from what it is asked."""
        return [*self._released(engine), *self._weights(card)], {
            "card": card.asked(),
            "key": key_so_far(engine, card, benchmark),
        }

    @once
    def snapshot(self, benchmark: str, model: str) -> Step:
        """A model's answers to the current requests, from its journal: what is not in it is asked."""
        files, parameters = self._answering(self.cards[model], self.engines[model], benchmark)
        snapshot = self.paths.snapshot(benchmark, model)
        for shard in self.shards(model):
            step = functools.partial(self.shard, benchmark, model, shard)
            files.append(Need("shard", self.paths.shard(benchmark, model, shard), step, decides=False))
        return Step(
            "infer",
            (benchmark, model),
            (snapshot,),
            (self._requests(benchmark), self._items(benchmark)._replace(decides=False), *files),
            parameters,
            ("punchline.stages.infer",),
            journals=lambda: [("journal", paths.journal(benchmark, model), answers_in(snapshot))],
            kept=(paths.journal(benchmark, model),),
        )

    def shards(self, model: str) -> list[str]:
        """Names of the jobs that ask a model, where they are several."""
        of = self.cards[model].shards
        return [str(number) for number in range(1, of + 1)] if of > 1 else []

    @once
    def shard(self, benchmark: str, model: str, shard: str) -> Step:
        """One job's part of a model's answers. How many parts there are decides about no answer: the snapshot's step
        does not hang on it, and asks for it only where it is to be made."""
        files, parameters = self._answering(self.cards[model], self.engines[model], benchmark)
        return Step(
            "infer_shard",
            (benchmark, model, shard),
            (self.paths.shard(benchmark, model, shard),),
            (self._requests(benchmark), self._items(benchmark)._replace(decides=False), *files),
            {**parameters, "shards": self.cards[model].shards},
            ("punchline.stages.infer",),
            follows=("infer", self.paths.snapshot(benchmark, model)),
        )

    def _own(self, benchmark: str, model: str) -> list[Need]:
        """What a model itself was asked, on items and on its own answers, and what it said."""
        snapshot = functools.partial(self.snapshot, benchmark, model)
        needs = [self._requests(benchmark), Need("snapshot", self.paths.snapshot(benchmark, model), snapshot)]
        return needs + (self._hop(benchmark, CHAINED, model) if CHAINED in self.hops(benchmark, model) else [])

    def _hop(self, benchmark: str, hop: str, model: str) -> list[Need]:
        requests = functools.partial(self.ask_hop, benchmark, hop, model)
        snapshot = functools.partial(self.hop_snapshot, benchmark, hop, model)
        return [
            Need(f"{role_of(hop)} requests", self.paths.hop_requests(benchmark, hop, model), requests),
            Need(f"{role_of(hop)} snapshot", self.paths.hop_snapshot(benchmark, hop, model), snapshot),
        ]

    @once
    def ask_hop(self, benchmark: str, hop: str, model: str) -> Step:
        """What hangs on a model's answers; of DATA, on texts of the data itself."""
        if model == DATA:
            return self._ask_data(benchmark, hop)
        own = self._own(benchmark, model)
        if hop == CHAINED:  # these come before what it makes itself
            own = own[:2]
        return Step(
            "ask_hop",
            (benchmark, hop, model),
            (self.paths.hop_requests(benchmark, hop, model),),
            (self._items(benchmark), self._gold(benchmark), *own),
            {"conditions": self.conditions(benchmark)},
            ("punchline.stages.ask", benchmarks.module_of(benchmark, "ask" if hop == CHAINED else "judge")),
            benchmarks.libraries(self.benchmark(benchmark), "ask" if hop == CHAINED else "judge"),
        )

    def _ask_data(self, benchmark: str, hop: str) -> Step:
        loaded, file = self.benchmark(benchmark), paths.published(benchmark)
        values = Need("published values", file, content=lambda: [printed(file, name) for name in loaded.COMPARED[hop]])
        return Step(
            "ask_hop",
            (benchmark, hop, DATA),
            (self.paths.hop_requests(benchmark, hop, DATA),),
            (*self._raw(benchmark, loaded.GOLD_FILES), values),
            {},
            ("punchline.stages.ask", benchmarks.module_of(benchmark, "compared")),
        )

    @once
    def hop_snapshot(self, benchmark: str, hop: str, model: str) -> Step:
        """The answers to a hop's requests about, or of, one model."""
        who = self.hops(benchmark, model)[hop]
        itself = hop == CHAINED or who == RELEASED  # released verdicts lie in the model's own files
        card = self.cards[model] if itself else self.judges[who]
        engine = self.engines[model] if itself else self.judging[who]
        files, parameters = self._answering(card, engine, benchmark)
        requests = self._hop(benchmark, hop, model)[0]
        pictured = [self._items(benchmark)._replace(decides=False)] if hop == CHAINED else []
        return Step(
            "infer_chained" if hop == CHAINED else "judge",
            (benchmark, hop, model),
            (self.paths.hop_snapshot(benchmark, hop, model),),
            (requests, *pictured, *files),
            {"who": who, **parameters},
            ("punchline.stages.infer",),
            journals=lambda: self._hop_journals(benchmark, hop, model),
            kept=() if who == RELEASED else (paths.hop_journal(benchmark, hop, who),),
        )

    def _hop_journals(self, benchmark: str, hop: str, model: str) -> list[tuple[str, str, str]]:
        """(role, path, digest of the answers that count) of every journal that a hop's answers about a model are in."""
        who = self.hops(benchmark, model)[hop]
        stem = model if hop == CHAINED else who
        engine = self.engines[model] if hop == CHAINED or who == RELEASED else self.judging[who]
        requests = read_table(self.paths.hop_requests(benchmark, hop, model), Request)
        digests = digests_in(self.paths.hop_snapshot(benchmark, hop, model))
        answers = {request.request_id: digest for request, digest in zip(requests, digests, strict=False)}
        return [
            (
                f"{role_of(hop)} journal",
                paths.hop_journal(benchmark, hop, name),
                digest_of_all(answers.get(request.request_id, "") for request in part),
            )
            for name, part in by_journal(stem, engine, requests).items()
        ]

    # Grades and tables

    @once
    def grade(self, benchmark: str, model: str) -> Step:
        judged = {hop: who for hop, who in self.hops(benchmark, model).items() if hop != CHAINED}
        loaded = self.benchmark(benchmark)
        return Step(
            "grade",
            (benchmark, model),
            (self.paths.grades(benchmark, model),),
            (
                self._items(benchmark),
                self._gold(benchmark),
                *self._own(benchmark, model),
                *(need for hop in judged for need in self._hop(benchmark, hop, model)),
            ),
            {"judges": judged},
            ("punchline.stages.grade", benchmarks.module_of(benchmark, "grade")),
            benchmarks.libraries(loaded, "grade"),
        )

    def _grades(self, benchmark: str, model: str) -> Need:
        grade = functools.partial(self.grade, benchmark, model)
        return Need("grades", self.paths.grades(benchmark, model), grade)

    @once
    def cells(self, benchmark: str, model: str) -> Step:
        """A model's part of all tables: its rows under both rules, and who answered."""
        loaded, selection = self.benchmark(benchmark), self.selection
        hops = (need for hop in self.hops(benchmark, model) for need in self._hop(benchmark, hop, model)[1:])
        answers = {need.path: need for need in (*self._own(benchmark, model)[1:2], *hops)}.values()
        released = self._released(self.engines[model])
        released += self._raw(benchmark, loaded.ITEM_FILES) if released else []
        return Step(
            "cells",
            (benchmark, model),
            (self.paths.cells(benchmark, model),),
            (
                self._items(benchmark),
                self._gold(benchmark),
                self._grades(benchmark, model),
                *answers,
                *released,
            ),
            {"scoring": selection.scoring},
            ("punchline.stages.cells", *(benchmarks.module_of(benchmark, name) for name in ("tables", "data"))),
            benchmarks.libraries(loaded, "tables"),
        )

    def _cells(self, benchmark: str, model: str) -> Need:
        return Need("cells", self.paths.cells(benchmark, model), functools.partial(self.cells, benchmark, model))

    @once
    def table(self, benchmark: str, table: str) -> Step:
        loaded = self.benchmark(benchmark)
        spec = loaded.TABLES[table]
        models = self.selection.models if spec.graded else []
        published = paths.published(benchmark)
        own = [paths.own(benchmark, name) for name in spec.own]
        names = [*spec.files, *(loaded.ITEM_FILES if spec.graded else ())]
        needs = [
            Need("published values", published, content=lambda: printed(published, table)),
            *self._raw(benchmark, list(dict.fromkeys(names))),
            *self._raw(paths.runs_of(benchmark), self.runs(benchmark, table)),
            *(Need("user's file", path) for path in own if Path(path).is_file()),
        ]
        if spec.graded:
            needs += [self._items(benchmark), self._gold(benchmark), self._selected(benchmark)]
        shown: dict[str, Need] = {}
        for hop, who in self.hops(benchmark, DATA).items() if spec.compared is not None else ():
            needs += self._hop(benchmark, hop, DATA)
            shown[who] = self._card(self.judges[who], benchmark, spec.prices, f"{role_of(hop)} card")
        for model in models:
            needs += [self._cells(benchmark, model)]
            needs += [self._grades(benchmark, model)] if spec.across is not None else []
            shown[model] = self._card(self.cards[model], benchmark, spec.prices, "model card")
            for hop, who in self.hops(benchmark, model).items():  # without keys: a judge's weights may not be there yet
                if hop != CHAINED:
                    gives = card_of_released(self.engines[model]) if who == RELEASED else self.judges[who]
                    if gives is not None:
                        shown[gives.file] = self._card(gives, benchmark, spec.prices, f"{role_of(hop)} card")
        needs += shown.values()
        csv = self.paths.table(spec.file)
        stem = csv.removesuffix(".csv")
        step = Step(
            "table",
            (benchmark, table),
            (csv, f"{stem}.md", f"{stem}.tex", f"{stem}.lineage.json"),
            tuple({need.path: need for need in needs}.values()),
            {"selection": msgspec.to_builtins(self.part(benchmark, table))},
            ("punchline.stages.tabulate", *(benchmarks.module_of(benchmark, name) for name in ("tables", "data"))),
            benchmarks.libraries(loaded, "tables"),
            names=lambda: [need for need, _ in walk(step)],  # its lineage names every file that it rests on
        )
        return step

    def _card(self, card: ModelCard, benchmark: str, prices: bool, role: str) -> Need:
        return Need(role, card.file, content=lambda: msgspec.to_builtins(shown(card, benchmark, prices)))

    def tables(self) -> list[Step]:
        """Every table of the selected benchmarks."""
        return [self.table(name, table) for name in self.selection.benchmarks for table in self.benchmark(name).TABLES]

    @once
    def unread(self, benchmark: str) -> Step:
        needs = tuple(self._cells(benchmark, model) for model in self.selection.models)
        return Step("unread", (benchmark,), (self.paths.unread(benchmark),), needs, {}, ("punchline.stages.tabulate",))

    @once
    def ranks(self, benchmark: str) -> Step:
        """How sure the order of models in each table is."""
        loaded, selection = self.benchmark(benchmark), self.selection
        tables = [spec for spec in loaded.TABLES.values() if spec.graded]
        files = dict.fromkeys(name for spec in tables for name in spec.files)
        runs = dict.fromkeys(name for spec in tables for name in self.runs(benchmark, spec.name))
        own = dict.fromkeys(paths.own(benchmark, name) for spec in tables for name in spec.own)
        cards = (
            Need("model card", card.file, content=functools.partial(lambda one: [one.asked(), one.base], card))
            for card in self.cards.values()
        )
        return Step(
            "ranks",
            (benchmark,),
            (self.paths.ranks(benchmark),),
            (
                self._items(benchmark),
                self._gold(benchmark),
                *(self._grades(benchmark, model) for model in selection.models),
                *cards,
                *self._raw(benchmark, list(files)),
                *self._raw(paths.runs_of(benchmark), list(runs)),
                *(Need("user's file", path) for path in own if Path(path).is_file()),
            ),
            {"scoring": selection.scoring},
            ("punchline.stages.ranks", *(benchmarks.module_of(benchmark, name) for name in ("tables", "data"))),
            benchmarks.libraries(loaded, "tables"),
        )

    @once
    def discrepancies(self) -> Step:
        selected = self.selection.benchmarks
        needs = [self._cells(name, model) for name in selected for model in self.selection.models]
        code = [benchmarks.module_of(name, "tables") for name in selected]
        return Step(
            "discrepancies", (), (self.paths.discrepancies,), tuple(needs), {}, ("punchline.stages.tabulate", *code)
        )

    @once
    def cost(self) -> Step:
        """What all answers have cost: of models, and of judges on them."""
        asked = self.asked()
        prices = [[b, m, hop, card.name, msgspec.to_builtins(card.price)] for b, m, hop, card, _ in asked]
        needs = tuple((self._own(b, m) if hop == "answer" else self._hop(b, hop, m))[1] for b, m, hop, *_ in asked)
        return Step("cost", (), (self.paths.cost,), needs, {"asked": prices}, ("punchline.stages.cost",))

    @once
    def metrics(self) -> Step:
        """The main column of every table that models are compared by."""
        code = [benchmarks.module_of(name, "tables") for name in self.selection.benchmarks]
        needs = [
            Need("table", step.outputs[0], functools.partial(self.table, *step.wildcards)) for step in self.tables()
        ]
        return Step(
            "metrics", (), (self.paths.metrics, self.paths.plots), tuple(needs), {}, ("punchline.stages.metrics", *code)
        )

    @once
    def figure(self, benchmark: str, table: str) -> Step:
        """A table as a picture for a paper."""
        made = self.table(benchmark, table)
        stem = made.outputs[0].removesuffix(".csv")
        need = Need("table", made.outputs[0], functools.partial(self.table, benchmark, table))
        code = ("punchline.report.site", benchmarks.module_of(benchmark, "tables"))
        return Step("figure", (benchmark, table), (f"{stem}.svg", f"{stem}.pdf"), (need,), {}, code, DRAWING)

    @once
    def report_items(self, benchmark: str) -> Step:
        """Items, what models were asked about them, and gold, for pages."""
        illustrated = self.illustrated(benchmark)
        index = Need("picture index", self.paths.index(benchmark), functools.partial(self.pictures, benchmark))
        pins = [Need("manifest", paths.manifest(benchmark, "images_pinned.csv"))] if self.pinned(benchmark) else []
        output = self.paths.report_items(benchmark)
        return Step(
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
    def report_answers(self, benchmark: str, model: str) -> Step:
        """A model's answers and their grades, for pages."""
        hops = (need for hop in self.hops(benchmark, model) for need in self._hop(benchmark, hop, model))
        needs = [self._items(benchmark), self._gold(benchmark), *self._own(benchmark, model), *hops]
        output = self.paths.report_answers(benchmark, model)
        return Step(
            "report_answers",
            (benchmark, model),
            (output,),
            tuple({need.path: need for need in (*needs, self._grades(benchmark, model))}.values()),
            {},
            ("punchline.report.answers", benchmarks.module_of(benchmark, "grade"), *self._shown(benchmark)),
            extra=lambda: files_beside(output),
        )

    @once
    def report(self) -> Step:
        """Pages to look at, of all that the run has made."""
        needs = [
            Need("table", step.outputs[0], functools.partial(self.table, *step.wildcards)) for step in self.tables()
        ]
        for name in self.selection.benchmarks:
            needs += [Need("unread answers", self.paths.unread(name), functools.partial(self.unread, name))]
            needs += [self._items(name)]
        needs += [
            Need("discrepancies", self.paths.discrepancies, self.discrepancies),
            Need("cost", self.paths.cost, self.cost),
        ]
        specs = (self.benchmark(benchmark).TABLES[table] for benchmark, table in (s.wildcards for s in self.tables()))
        verdicts = [self.paths.audited(spec.file) for spec in specs]
        needs += [Need("verdict", path) for path in verdicts if Path(path).is_file()]
        folder, selected = self.paths.report, self.selection.benchmarks
        for name in selected:
            needs += [Need("pages", self.paths.report_items(name), functools.partial(self.report_items, name))]
            for model in self.selection.models:
                answers = functools.partial(self.report_answers, name, model)
                needs += [Need("pages", self.paths.report_answers(name, model), answers), self._grades(name, model)]
        return Step(
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
