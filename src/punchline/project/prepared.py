"""What lies before the first question: published bytes, a selection's items, their pictures, gold. See needs.py."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

from punchline.core import benchmark as benchmarks
from punchline.core.engine import Engine, Released
from punchline.core.records import LedgerEntry, Pictures
from punchline.core.storage import read_records
from punchline.project import paths
from punchline.project.asking import Asking
from punchline.project.contents import ledger_content
from punchline.project.provenance import Need, Step
from punchline.project.selection import Selection


def once(method: Callable[..., Step]) -> Callable[..., Step]:
    """A method whose answer is kept: a step is one object, whoever asks for it."""

    @functools.wraps(method)
    def get(self: Prepared, *wildcards: object) -> Step:
        key = (method.__name__, *wildcards)
        if key not in self.steps:
            self.steps[key] = method(self, *wildcards)
        return self.steps[key]

    return get


class Prepared(Asking):
    """The artefacts that no model has a part in."""

    def __init__(self, selection: Selection, shards: int | None = None) -> None:
        super().__init__(selection, shards)
        self.steps: dict[tuple[object, ...], Step] = {}

    # Published bytes

    @once
    def raw(self, benchmark: str) -> Step:
        """The released files: drawn (corpus=demo), or fetched as pinned, whatever code fetches them."""
        manifest = Need(
            "manifest", paths.manifest(benchmark), content=lambda: sorted(self.annotations(benchmark).items())
        )
        drawn = self.selection.corpus.drawn
        demo = benchmarks.module_of(benchmark, "demo")
        folder = Path(self.paths.raw(benchmark, "images"))
        return Step(
            "draw_demo" if drawn else "fetch_annotations",
            (benchmark,),
            tuple(self.paths.raw(benchmark, name) for name in self.annotations(benchmark)),
            () if drawn else (manifest,),
            {},
            (demo,) if drawn else (),
            extra=lambda: sorted(path.as_posix() for path in folder.glob("*.png")) if drawn else [],
            record=self.paths.raw(benchmark, "annotations.made.json"),
        )

    def _raw(self, benchmark: str, names: Sequence[str]) -> list[Need]:
        step = functools.partial(self.raw, benchmark)
        return [Need("raw annotation", self.paths.raw(benchmark, name), step) for name in names]

    def _released(self, engine: Engine) -> list[Need]:
        """The files that an engine replays."""
        files = {path: self.listed(path) for path in (engine.files if isinstance(engine, Released) else ())}
        steps = {name: functools.partial(self.raw, name) for name in files.values() if name is not None}
        return [Need("released answers", path, steps.get(name or "")) for path, name in files.items()]

    @once
    def select_items(self, benchmark: str) -> Step:
        """Which items are evaluated."""
        selection, loaded = self.selection, self.benchmark(benchmark)
        subset = [Need("subset", selection.subset)] if selection.subset is not None else []
        if selection.limit is not None and self.pinned(benchmark):
            subset.append(Need("manifest", paths.manifest(benchmark, "images_pinned.csv")))
        return Step(
            "select_items",
            (benchmark,),
            (self.paths.selected(benchmark),),
            (*self._raw(benchmark, loaded.ITEM_FILES), *subset),
            {"sources": (selection.corpus.sources or {}).get(benchmark), "limit": selection.limit},
            ("punchline.stages.prepare", benchmarks.module_of(benchmark, "data")),
        )

    def _selected(self, benchmark: str) -> Need:
        return Need("selected items", self.paths.selected(benchmark), functools.partial(self.select_items, benchmark))

    @once
    def images(self, benchmark: str) -> Step:
        """The published images, by their ledger: drawn or fetched, or missing with a reason, which is a result too."""
        drawn = self.selection.corpus.drawn
        pins = [] if drawn else self._pins(benchmark)
        beside = self._raw(benchmark, list(self.annotations(benchmark))[:1]) if drawn else []  # the images lie there
        ledger = self.paths.ledger(benchmark)
        return Step(
            "drawn_images" if drawn else "fetch_images",
            (benchmark,),
            (ledger,),
            (self._selected(benchmark), *pins, *beside),
            {},
            ("punchline.stages.pictures",) if drawn else (),
            extra=lambda: [str(entry.path) for entry in read_records(ledger, LedgerEntry) if entry.state == "ok"],
            extra_role="image",
        )

    def _pins(self, benchmark: str) -> list[Need]:
        """What the images must be. The lock, which fetching itself extends, does not decide; the audit reads it."""
        pinned, lock = (paths.manifest(benchmark, name) for name in ("images_pinned.csv", "images.lock.csv"))
        needs = [Need("manifest", pinned)]
        return needs + ([Need("manifest", lock, decides=False)] if Path(lock).is_file() else [])

    def _ledger(self, benchmark: str) -> Need:
        file = self.paths.ledger(benchmark)
        return Need(
            "ledger",
            file,
            functools.partial(self.images, benchmark),
            content=lambda: ledger_content(read_records(file, LedgerEntry)),
        )

    @once
    def availability(self, benchmark: str) -> Step:
        return Step(
            "availability",
            (benchmark,),
            (self.paths.availability(benchmark),),
            (self._ledger(benchmark),),
            {},
            ("punchline.stages.fetch.ledger",),
        )

    # What models see, and gold

    @once
    def pictures(self, benchmark: str) -> Step:
        """What models see, by an index of all pictures."""
        loaded, index = self.benchmark(benchmark), self.paths.index(benchmark)
        return Step(
            "pictures",
            (benchmark,),
            (index,),
            (*self._raw(benchmark, loaded.ITEM_FILES), self._selected(benchmark), self._ledger(benchmark)),
            {"pinned": not self.selection.corpus.drawn},
            ("punchline.stages.pictures", benchmarks.module_of(benchmark, "pictures")),
            benchmarks.libraries(loaded, "pictures"),
            extra=lambda: [image.path for made in read_records(index, Pictures) for image in made.images],
            extra_role="picture",
        )

    @once
    def items(self, benchmark: str) -> Step:
        needs = [*self._raw(benchmark, self.benchmark(benchmark).ITEM_FILES), self._selected(benchmark)]
        if self.illustrated(benchmark):
            index = Need("picture index", self.paths.index(benchmark), functools.partial(self.pictures, benchmark))
            needs += [self._ledger(benchmark), index]
        return Step(
            "items",
            (benchmark,),
            (self.paths.items(benchmark),),
            tuple(needs),
            {},
            ("punchline.stages.prepare", benchmarks.module_of(benchmark, "data")),
        )

    @once
    def gold(self, benchmark: str) -> Step:
        return Step(
            "gold",
            (benchmark,),
            (self.paths.gold(benchmark),),
            (*self._raw(benchmark, self.benchmark(benchmark).GOLD_FILES), self._selected(benchmark)),
            {},
            ("punchline.stages.prepare", benchmarks.module_of(benchmark, "data")),
        )

    def _items(self, benchmark: str) -> Need:
        return Need("items", self.paths.items(benchmark), functools.partial(self.items, benchmark))

    def _gold(self, benchmark: str) -> Need:
        return Need("gold", self.paths.gold(benchmark), functools.partial(self.gold, benchmark))
