"""A run: its selection and paths, the models, judges and scorers that answer, their engines, passes and conditions.

A build function gets a Run: paths and parameters, without the graph of artifacts that project.py adds.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from punchline.artifacts.lineage import Respondent
from punchline.artifacts.passes import (
    CHAINED,
    DATA,
    EXTRACTOR,
    JUDGE,
    JUDGES,
    RELEASED,
    Round,
    card_of_released,
    passes_of,
    scorers_of,
)
from punchline.config import revisions
from punchline.config.cards import read_card
from punchline.config.resources import ASKED
from punchline.config.selection import Selection, folder_of_judge
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core import variants
from punchline.core.benchmark import SCORERS, Benchmark
from punchline.core.engine import Engine, model_key
from punchline.errors import PunchlineError
from punchline.files import parse_csv
from punchline.journal import Shard
from punchline.paths import RAW, Paths, demo, journal, manifest, runs_of
from punchline.schema import ModelCard
from punchline.workflow.digests import of_file

KeyOf = Callable[[Engine, ModelCard, str], str]


def key_so_far(engine: Engine, card: ModelCard, benchmark: str) -> str:
    """Model key; empty while weights or a lock are not there yet."""
    try:
        return revisions.locked_only(model_key, engine, card, benchmark)
    except PunchlineError:
        return ""


class Run:
    """The paths of one selection, its parameters, and the models, judges and scorers that answer."""

    def __init__(self, selection: Selection, shards: int | None = None) -> None:
        self.selection = selection
        self._shards = shards
        self.paths = Paths(selection.corpus.raw, selection.run)
        self.passes = functools.cache(self._passes)  # {pass: who answers it}, by benchmark and model

    @functools.cached_property
    def cards(self) -> dict[str, ModelCard]:
        return {name: read_card(name) for name in self.selection.models}

    @functools.cached_property
    def engines(self) -> dict[str, Engine]:
        """Engines of the models, by name. Those of one model may run side by side."""
        return {name: self._engine(card) for name, card in self.cards.items()}

    def _engine(self, card: ModelCard) -> Engine:
        return engines.load(msgspec.structs.replace(card, shards=self.shard_count(card)), self.selection.seed)

    def shard_count(self, card: ModelCard) -> int:
        """Number of jobs that ask a model, judge or scorer: `shards` of the run for those that compute or are called,
        else as its card says."""
        return self._shards if self._shards is not None and card.engine in ASKED else card.shards

    def shards(self, respondent: str) -> list[str]:
        """Names of the jobs that ask a respondent before its own job, where they are several."""
        of = self.shard_count(self.card_of(respondent))
        return [str(Shard(number, of)) for number in range(1, of + 1)] if of > 1 else []

    # Respondents: a model by its name, a judge or scorer as `judge/NAME`

    @functools.cached_property
    def respondents(self) -> list[str]:
        """Everybody who is asked something, models first."""
        return [*self.selection.models, *(f"{JUDGES}{name}" for name in self.judged)]

    def card_of(self, respondent: str) -> ModelCard:
        return self.cards.get(respondent) or self.judges[respondent.removeprefix(JUDGES)]

    def engine_of(self, respondent: str) -> Engine:
        return self.engines.get(respondent) or self.judging[respondent.removeprefix(JUDGES)]

    def respondent(self, benchmark: str, pass_: str, model: str) -> str:
        """Respondent to requests about a model's answers, or about the items ("": no pass)."""
        name = self.passes(benchmark, model)[pass_] if pass_ else model
        return model if pass_ in ("", CHAINED) or name == RELEASED else f"{JUDGES}{name}"

    def rounds(self, respondent: str) -> list[Round]:
        """Rounds of a respondent, in order: released verdicts are the model's that they are about."""
        if respondent not in self.cards:
            return self.judged[respondent.removeprefix(JUDGES)]
        return [
            Round(benchmark, pass_, (respondent,))
            for benchmark in self.selection.benchmarks
            for pass_ in ("", *self.passes(benchmark, respondent))
            if self.respondent(benchmark, pass_, respondent) == respondent
        ]

    def journal(self, respondent: str, round_: Round) -> str:
        """The journal of what a respondent is asked in a round."""
        benchmark, pass_, _ = round_
        name = respondent.removeprefix(JUDGES)
        released = name == respondent and pass_ not in ("", CHAINED)
        return journal(benchmark, f"{name}.{RELEASED}" if released else name, pass_)

    @functools.cached_property
    def judges(self) -> dict[str, ModelCard]:
        """Cards of the judge, the extractor and the scorers, by name."""
        names = (self.selection.judge, self.selection.extractor, *self.selection.scorers)
        return {name: read_card(name, folder_of_judge(name)) for name in names if name}

    @functools.cached_property
    def judging(self) -> dict[str, Engine]:
        """Engines of the judge, the extractor and the scorers, by name."""
        return {name: self._engine(card) for name, card in self.judges.items()}

    def benchmark(self, name: str) -> Benchmark:
        return benchmarks.load(name)

    # Released files

    def annotations(self, name: str) -> dict[str, str]:
        """{path: sha256} of released files, of a benchmark or of runs of it, as their manifest lists them.

        A file of the project counts with its present bytes: it is edited where it is.
        """
        digests = {}
        for cells in _listed(name):
            is_own = "://" not in cells["url"] and Path(cells["url"]).is_file()
            digests[cells["path"]] = of_file(cells["url"]) if is_own else cells["sha256"]
        return digests

    def edited(self, benchmark: str, name: str) -> str:
        """Path of the file that a user edits to change a raw file: the project's own, else the raw file itself."""
        rows = [] if self.selection.corpus.drawn else _listed(benchmark)
        places = [cells["url"] for cells in rows if cells["path"] == name and "://" not in cells["url"]]
        own = [place for place in places if Path(place).name == Path(name).name]  # errors know files by their names
        return own[0] if own else self.paths.raw(benchmark, name)

    def demo_files(self, name: str) -> list[str]:
        """Names of a benchmark's demo files within their folder; none where the corpus is not the demo's."""
        folder = Path(demo(name))
        files = (path for path in folder.rglob("[!.]*") if path.is_file()) if self.selection.corpus.drawn else ()
        return sorted(path.relative_to(folder).as_posix() for path in files)

    def demo_images(self, name: str) -> list[str]:
        """Names of the images among a benchmark's demo files."""
        return [file for file in self.demo_files(name) if file.startswith("images/")]

    def raw_files(self, name: str) -> list[str]:
        """Names of the raw files of a benchmark: those that its manifest lists, and demo files."""
        return list(dict.fromkeys([*self.annotations(name), *self.demo_files(name)]))

    def listed(self, path: str) -> str | None:
        """Whose manifest lists a raw file, so that it can be fetched; None where none does."""
        name, _, within = path.removeprefix(f"{RAW}/").partition("/")
        drawn = self.selection.corpus.drawn or path != self.paths.raw(name, within)
        fetched = not drawn and Path(manifest(name)).is_file() and within in self.annotations(name)
        return name if fetched else None

    @functools.cached_property
    def manifests(self) -> list[str]:
        """Whose released files are fetched: benchmarks', and those of runs that a selected card replays."""
        files = (path for engine in self.engines.values() for path in engine.files)
        names = {name for path in files if (name := self.listed(path)) is not None}
        return [*self.selection.benchmarks, *sorted(names - set(self.selection.benchmarks))]

    def runs(self, benchmark: str, table: str) -> list[str]:
        """Files of released runs that a table shows, where a selected card replays one of them."""
        spec = self.benchmark(benchmark).TABLES[table]
        return list(spec.runs) if runs_of(benchmark) in self.manifests else []

    # Passes

    @functools.cached_property
    def scorers(self) -> dict[str, str]:
        return scorers_of(self.judges[name] for name in self.selection.scorers)

    def _passes(self, benchmark: str, model: str) -> dict[str, str]:
        """{pass: who answers it} of one model's answers, or of DATA, in the order in which they are answered."""
        loaded = self.benchmark(benchmark)
        if model == DATA:
            return {pass_: who for pass_, who in self.scorers.items() if pass_ in loaded.COMPARED}
        chosen = {EXTRACTOR: self.selection.extractor or None, JUDGE: self.selection.judge, **self.scorers}
        return passes_of(loaded, self.cards[model], self.engines[model], self.conditions(benchmark), chosen)

    def card_for(self, pass_: str, name: str, model: str) -> ModelCard | None:
        """The card of who answers a pass of a model's answers; None: somebody without one gave released verdicts."""
        if name == RELEASED:
            return card_of_released(self.engines[model])
        return self.cards[model] if pass_ == CHAINED else self.judges[name]

    def answerers(self, benchmark: str, model: str, key_of: KeyOf = model_key) -> list[Respondent]:
        """Respondents of each pass of a model's answers, with their keys."""
        passes = []
        for name, answerer in self.passes(benchmark, model).items():
            respondent = self.respondent(benchmark, name, model)
            key = key_of(self.engine_of(respondent), self.card_of(respondent), benchmark)
            passes.append(Respondent(pass_=name, who=answerer, card=self.card_for(name, answerer, model), key=key))
        return passes

    @functools.cached_property
    def judged(self) -> dict[str, list[Round]]:
        """{judge or scorer: what it is asked}."""
        by_judge: dict[str, list[Round]] = {}
        for benchmark, pass_ in itertools.product(self.selection.benchmarks, (EXTRACTOR, JUDGE, *SCORERS)):
            models = (*self.selection.models, DATA)
            judges = [self.passes(benchmark, model).get(pass_, RELEASED) for model in models]
            for judge in dict.fromkeys(judges):
                of = tuple(model for model, its_judge in zip(models, judges, strict=True) if its_judge == judge)
                by_judge.setdefault(judge, []).append(Round(benchmark, pass_, of))
        return {who: rounds for who, rounds in by_judge.items() if who != RELEASED}

    def judged_repeatedly(self, benchmark: str) -> list[str]:
        """Models on whose answers a judge gives several verdicts each."""
        judges = {model: self.passes(benchmark, model).get(JUDGE, RELEASED) for model in self.selection.models}
        return [model for model, name in judges.items() if name != RELEASED and self.judges[name].repeats > 1]

    def conditions(self, benchmark: str) -> list[str]:
        """Selected conditions that the benchmark has."""
        loaded, selected = self.benchmark(benchmark), self.selection.conditions
        return [name for name in (*loaded.CONDITIONS, *variants.conditions(loaded)) if name in selected]

    def illustrated(self, benchmark: str) -> bool:
        """True if some selected model looks at the benchmark's images, and a selected condition shows them."""
        looked_at = (engine.looks_at(benchmark) for engine in self.engines.values())
        has_images = self.benchmark(benchmark).IMAGES or variants.WITH_IMAGE in self.conditions(benchmark)
        return has_images and any(looked_at)

    def pinned(self, benchmark: str) -> list[str]:
        """Items whose image's address and digest a manifest pins."""
        file = manifest(benchmark, "images_pinned.csv")
        if self.selection.corpus.drawn or not self.benchmark(benchmark).IMAGES:
            return []
        return [cells["comic_id"] for _, cells in parse_csv(Path(file).read_bytes(), ("comic_id",), file=file)]

    def asked_passes(self) -> list[tuple[str, str, str, ModelCard, str]]:
        """(benchmark, model, pass, card of who is asked, snapshot) of everything that is asked of anybody."""
        rows, nobody = [], ModelCard(name=RELEASED, engine="replay")
        for benchmark, model in itertools.product(self.selection.benchmarks, (*self.cards, DATA)):
            if model != DATA:
                rows.append((benchmark, model, "answer", self.cards[model], self.paths.responses(benchmark, model)))
            for pass_, judge in self.passes(benchmark, model).items():
                card = self.card_for(pass_, judge, model) or nobody
                rows.append((benchmark, model, pass_, card, self.paths.responses(benchmark, model, pass_)))
        return rows

    def part(self, benchmark: str, table: str) -> Selection:
        """The part of the selection that a table can depend on; everything else has its default.

        A table of the dataset itself takes the released files whole: it depends on the corpus only.
        """
        selection, loaded = self.selection, self.benchmark(benchmark)
        spec = loaded.TABLES[table]
        sources = (selection.corpus.sources or {}).get(benchmark) if spec.of_models else None
        scorers = [name for name in selection.scorers if self.judges[name].options.get("metric") in loaded.JUDGES]
        part = msgspec.structs.replace(
            selection,
            corpus=msgspec.structs.replace(selection.corpus, sources=None if sources is None else {benchmark: sources}),
            benchmarks=[benchmark],
            judge=selection.judge if spec.of_models and "judge" in loaded.JUDGES else None,
            extractor=selection.extractor if spec.of_models and loaded.CLOSED else msgspec.UNSET,
            scorers=scorers if spec.of_models or spec.compared is not None else [],
            conditions=self.conditions(benchmark) if spec.of_models else [],
        )
        if spec.of_models:
            return part
        nothing: dict[str, Any] = dict.fromkeys(("subset", "subset_sha256", "limit", "scoring"))
        return msgspec.structs.replace(part, models=[], seed=0, samples=1, **nothing)


def _listed(name: str) -> list[dict[str, str]]:
    """Rows of a manifest of released files."""
    file = manifest(name)
    return [cells for _, cells in parse_csv(Path(file).read_bytes(), ("path", "url", "sha256"), file=file)]


def card_in_tables(card: ModelCard, benchmark: str, prices: bool) -> ModelCard:
    """Card with only what a benchmark's tables can show: what is asked, its row in the paper, its caveat, prices."""
    papers = {name: paper for name, paper in card.papers.items() if name == benchmark}
    left_out = ("gpus", "licence", "note", "gone", *(() if prices else ("price",)))
    return msgspec.structs.replace(card, papers=papers, shards=1, **dict.fromkeys(left_out))


def role_of(pass_: str) -> str:
    """Prefix of a pass's file roles in a lineage: judge's, bertscore's, chained."""
    return pass_ if pass_ == CHAINED else f"{pass_}'s"
