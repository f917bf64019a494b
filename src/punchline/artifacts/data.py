"""Artifacts of released files, items, images and gold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.contents import ledger_content
from punchline.artifacts.respondents import Asking
from punchline.config.selection import Selection
from punchline.core import benchmark as benchmarks
from punchline.core.engine import Engine, Released
from punchline.errors import PunchlineError
from punchline.files import read_records
from punchline.schema import FetchEntry, Pictures
from punchline.workflow.provenance import Artifact, Input

FETCH, PREPARE = "punchline.fetch.commands", "punchline.prepare"


def once(method: Callable[..., Artifact]) -> Callable[..., Artifact]:
    """A method whose answer is kept: a step is one object, whoever asks for it."""

    @functools.wraps(method)
    def get(self: Prepared, *wildcards: object) -> Artifact:
        key = (method.__name__, *wildcards)
        if key not in self.steps:
            self.steps[key] = method(self, *wildcards)
        return self.steps[key]

    return get


class Prepared(Asking):
    """The artefacts that no model has a part in."""

    def __init__(self, selection: Selection, shards: int | None = None) -> None:
        super().__init__(selection, shards)
        self.steps: dict[tuple[object, ...], Artifact] = {}

    # Published bytes

    @once
    def raw(self, benchmark: str) -> Artifact:
        """The released files: fetched as pinned, whatever code fetches them, or copies of the demo files."""
        manifest = Input(
            "manifest", paths.manifest(benchmark), content=lambda: sorted(self.annotations(benchmark).items())
        )
        demo = self.demo_files(benchmark) if self.selection.corpus.drawn else []
        return Artifact(
            "raw",
            (benchmark,),
            tuple(self.paths.raw(benchmark, name) for name in dict.fromkeys([*self.annotations(benchmark), *demo])),
            tuple(Input("demo file", f"{paths.demo(benchmark)}/{name}") for name in demo) or (manifest,),
            {},
            f"{FETCH}:write_annotations",
            None,
            record=self._fetched(benchmark),
            job=self._fetched(benchmark),
        )

    def _fetched(self, benchmark: str) -> str:
        """The provenance file of the raw files, by which Snakemake knows the job that fetches."""
        return self.paths.raw(benchmark, "annotations.made.json")

    @staticmethod
    def demo_files(benchmark: str) -> list[str]:
        """Names of a benchmark's demo files within their folder. Raises PunchlineError where there are none."""
        folder = Path(paths.demo(benchmark))
        found = [path.relative_to(folder).as_posix() for path in folder.rglob("[!.]*") if path.is_file()]
        if not found:
            raise PunchlineError(f"no demo data for {benchmark}: use corpus=full", file=folder)
        return sorted(found)

    def demo_images(self, benchmark: str) -> list[Input]:
        """Copies of a benchmark's demo images."""
        return self._raw(benchmark, [name for name in self.demo_files(benchmark) if name.startswith("images/")])

    @staticmethod
    def _published(benchmark: str, content: Callable[[str], Any]) -> list[Input]:
        """Values that a paper prints, as far as `content` reads them; none without a file of them."""
        file = paths.published(benchmark)
        return [Input("published values", file, content=lambda: content(file))] if Path(file).is_file() else []

    def _raw(self, benchmark: str, names: Sequence[str]) -> list[Input]:
        step = functools.partial(self.raw, benchmark)
        return [Input("raw annotation", self.paths.raw(benchmark, name), step) for name in names]

    def _released(self, engine: Engine) -> list[Input]:
        """The files that an engine replays."""
        files = {path: self.listed(path) for path in (engine.files if isinstance(engine, Released) else ())}
        steps = {name: functools.partial(self.raw, name) for name in files.values() if name is not None}
        return [Input("released answers", path, steps.get(name or "")) for path, name in files.items()]

    @once
    def select_items(self, benchmark: str) -> Artifact:
        """Which items are evaluated."""
        selection, loaded = self.selection, self.benchmark(benchmark)
        subset = [Input("subset", selection.subset)] if selection.subset is not None else []
        if selection.limit is not None and self.pinned(benchmark):
            subset.append(Input("manifest", paths.manifest(benchmark, "images_pinned.csv")))
        chosen: dict[str, Any] = {
            "sources": (selection.corpus.sources or {}).get(benchmark),
            "limit": selection.limit,
        }
        if self.illustrated(benchmark) and not loaded.IMAGES:
            chosen["pages"] = True
        return Artifact(
            "select_items",
            (benchmark,),
            (self.paths.selected(benchmark),),
            (*self._raw(benchmark, loaded.ITEM_FILES), *subset),
            chosen,
            f"{PREPARE}:write_selected",
            (benchmarks.module_of(benchmark, "data"),),
            job=self._fetched(benchmark),
        )

    def _selected(self, benchmark: str) -> Input:
        return Input("selected items", self.paths.selected(benchmark), functools.partial(self.select_items, benchmark))

    @once
    def images(self, benchmark: str) -> Artifact:
        """The published images, by their ledger: of the demo, fetched, or missing with a reason."""
        demo = self.selection.corpus.drawn
        ledger = self.paths.ledger(benchmark)
        return Artifact(
            "images",
            (benchmark,),
            (ledger,),
            (self._selected(benchmark), *(self.demo_images(benchmark) if demo else self._pins(benchmark))),
            {},
            f"{FETCH}:write_images",
            ("punchline.fetch.demo",) if demo else None,
            extra=lambda: [str(entry.path) for entry in read_records(ledger, FetchEntry) if entry.state == "ok"],
            extra_role="image",
            job=self._fetched(benchmark),
        )

    def _pins(self, benchmark: str) -> list[Input]:
        """What the images must be. The lock, which fetching itself extends, does not decide; the audit reads it."""
        pinned, lock = (paths.manifest(benchmark, name) for name in ("images_pinned.csv", "images.lock.csv"))
        needs = [Input("manifest", pinned)]
        return needs + ([Input("manifest", lock, decides=False)] if Path(lock).is_file() else [])

    def _ledger(self, benchmark: str) -> Input:
        file = self.paths.ledger(benchmark)
        return Input(
            "ledger",
            file,
            functools.partial(self.images, benchmark),
            content=lambda: ledger_content(read_records(file, FetchEntry)),
        )

    # What models see, and gold

    @once
    def pictures(self, benchmark: str) -> Artifact:
        """Images as models see them, by an index."""
        loaded, index = self.benchmark(benchmark), self.paths.index(benchmark)
        return Artifact(
            "pictures",
            (benchmark,),
            (index,),
            (*self._raw(benchmark, loaded.ITEM_FILES), self._selected(benchmark), self._ledger(benchmark)),
            {"pinned": not self.selection.corpus.drawn},
            "punchline.pictures:write_pictures",
            (benchmarks.module_of(benchmark, "pictures"), benchmarks.PICTURES),
            benchmarks.libraries(loaded, "pictures"),
            extra=lambda: [image.path for made in read_records(index, Pictures) for image in made.images],
            extra_role="picture",
            job=self.paths.requests(benchmark),
        )

    @once
    def items(self, benchmark: str) -> Artifact:
        needs = [*self._raw(benchmark, self.benchmark(benchmark).ITEM_FILES), self._selected(benchmark)]
        if self.illustrated(benchmark):
            index = Input("picture index", self.paths.index(benchmark), functools.partial(self.pictures, benchmark))
            needs += [self._ledger(benchmark), index]
        return Artifact(
            "items",
            (benchmark,),
            (self.paths.items(benchmark),),
            tuple(needs),
            {},
            f"{PREPARE}:write_items",
            (benchmarks.module_of(benchmark, "data"),),
            job=self.paths.requests(benchmark),
        )

    @once
    def gold(self, benchmark: str) -> Artifact:
        return Artifact(
            "gold",
            (benchmark,),
            (self.paths.gold(benchmark),),
            (*self._raw(benchmark, self.benchmark(benchmark).GOLD_FILES), self._selected(benchmark)),
            {},
            f"{PREPARE}:write_gold",
            (benchmarks.module_of(benchmark, "data"),),
            job=self.paths.requests(benchmark),
        )

    def _items(self, benchmark: str) -> Input:
        return Input("items", self.paths.items(benchmark), functools.partial(self.items, benchmark))

    def _gold(self, benchmark: str) -> Input:
        return Input("gold", self.paths.gold(benchmark), functools.partial(self.gold, benchmark))
