"""Artifacts of released files, items, images and gold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.run import Run
from punchline.config.selection import Selection
from punchline.core.engine import Engine
from punchline.files import read_records
from punchline.schema import FetchEntry, Pictures
from punchline.workflow.code import GOLD, ITEMS
from punchline.workflow.digests import of_file
from punchline.workflow.provenance import Artifact, Input

FETCH, PREPARE = "punchline.fetch.commands", "punchline.prepare"


def artifact(method: Callable[..., Artifact]) -> Callable[..., Artifact]:
    """A method that describes an artifact of its name: one object for the same wildcards, whoever asks for it."""

    @functools.wraps(method)
    def get(self: DataArtifacts, *wildcards: str) -> Artifact:
        key = (method.__name__, *wildcards)
        if key not in self.artifacts:
            described = method(self, *wildcards)
            self.artifacts[key] = replace(described, rule=described.rule or method.__name__, wildcards=wildcards)
        return self.artifacts[key]

    return get


class DataArtifacts(Run):
    """The artifacts that no model has a part in."""

    def __init__(self, selection: Selection, shards: int | None = None) -> None:
        super().__init__(selection, shards)
        self.artifacts: dict[tuple[str, ...], Artifact] = {}

    # Published bytes

    @artifact
    def raw(self, benchmark: str) -> Artifact:
        """The released files: fetched as pinned, whatever code fetches them, or copies of the demo files."""
        pins = Input("manifest", paths.manifest(benchmark), content=lambda: sorted(self.annotations(benchmark).items()))
        demo = self.demo_files(benchmark)
        return Artifact(
            tuple(self.paths.raw(benchmark, name) for name in self.raw_files(benchmark)),
            [Input("demo file", f"{paths.demo(benchmark)}/{name}") for name in demo] or [pins],
            f"{FETCH}:write_annotations",
            record=self._fetched(benchmark),
            job=self._fetched(benchmark),
        )

    def _fetched(self, benchmark: str) -> str:
        """The provenance file of the raw files, by which Snakemake knows the job that fetches."""
        return self.paths.raw(benchmark, "annotations.made.json")

    @staticmethod
    def _published(benchmark: str, content: Callable[[str], Any]) -> list[Input]:
        """Values that a paper prints, as far as `content` reads them; none without a file of them."""
        file = paths.published(benchmark)
        return [Input("published values", file, content=lambda: content(file))] if Path(file).is_file() else []

    def _raw(self, benchmark: str, names: Sequence[str]) -> list[Input]:
        return [Input("raw annotation", self.paths.raw(benchmark, name), self.raw(benchmark)) for name in names]

    def _released(self, engine: Engine) -> list[Input]:
        """The files that an engine replays."""
        listed = {path: self.listed(path) for path in engine.files}
        return [Input("released answers", path, self.raw(name) if name else None) for path, name in listed.items()]

    @artifact
    def select_items(self, benchmark: str) -> Artifact:
        """Selected items."""
        selection, loaded = self.selection, self.benchmark(benchmark)
        subset = [Input("subset", selection.subset)] if selection.subset is not None else []
        pins = self._pins(benchmark)[:1] if selection.limit is not None and self.pinned(benchmark) else []
        pages = {"pages": True} if self.illustrated(benchmark) and not loaded.IMAGES else {}
        sources = (selection.corpus.sources or {}).get(benchmark)
        return Artifact(
            (self.paths.selected(benchmark),),
            [*self._raw(benchmark, loaded.ITEM_FILES), *subset, *pins],
            f"{PREPARE}:write_selected",
            {"sources": sources, "limit": selection.limit, **pages},
            (ITEMS, benchmark),
            job=self._fetched(benchmark),
        )

    def _selected(self, benchmark: str) -> Input:
        return self.select_items(benchmark).output("selected items")

    @artifact
    def images(self, benchmark: str) -> Artifact:
        """The published images, by their fetch log: of the demo, fetched, or missing with a reason."""
        demo, log = self.selection.corpus.drawn, self.paths.fetch_log(benchmark)
        copies = [one._replace(role="image") for one in self._raw(benchmark, self.demo_images(benchmark))]
        return Artifact(
            (log,),
            [self._selected(benchmark), *(copies if demo else self._pins(benchmark))],
            f"{FETCH}:write_images",
            code=(ITEMS,) if demo else (),
            extra=lambda: [str(entry.path) for entry in read_records(log, FetchEntry) if entry.state == "ok"],
            extra_role="image",
            verify=lambda: next(filter(None, map(changed_file, read_records(log, FetchEntry))), None),
            job=self._fetched(benchmark),
        )

    def _pins(self, benchmark: str) -> list[Input]:
        """Pinned digests of images. The lock, which fetching itself extends, does not decide; the audit reads it."""
        pinned, lock = (paths.manifest(benchmark, name) for name in ("images_pinned.csv", "images.lock.csv"))
        return [Input("manifest", pinned), *([Input("manifest", lock, decides=False)] if Path(lock).is_file() else [])]

    def _fetch_log(self, benchmark: str) -> Input:
        file = self.paths.fetch_log(benchmark)
        content = functools.partial(_fetch_log_content, file)
        return self.images(benchmark).output("ledger")._replace(content=content)

    # What models see, and gold

    @artifact
    def pictures(self, benchmark: str) -> Artifact:
        """Images as models see them, by an index."""
        loaded, index = self.benchmark(benchmark), self.paths.index(benchmark)
        return Artifact(
            (index,),
            [*self._raw(benchmark, loaded.ITEM_FILES), self._selected(benchmark), self._fetch_log(benchmark)],
            "punchline.pictures:write_pictures",
            code=(ITEMS, benchmark),
            libraries=loaded.LIBRARIES.get("pictures", ()),
            extra=lambda: [image.path for made in read_records(index, Pictures) for image in made.images],
            extra_role="picture",
            job=self.paths.requests(benchmark),
        )

    def _pictures(self, benchmark: str) -> list[Input]:
        """The index of pictures and the fetch log; nothing where no image is shown."""
        if not self.illustrated(benchmark):
            return []
        return [self._fetch_log(benchmark), self.pictures(benchmark).output("picture index")]

    @artifact
    def items(self, benchmark: str) -> Artifact:
        raw = self._raw(benchmark, self.benchmark(benchmark).ITEM_FILES)
        return Artifact(
            (self.paths.items(benchmark),),
            [*raw, self._selected(benchmark), *self._pictures(benchmark)],
            f"{PREPARE}:write_items",
            code=(ITEMS, benchmark),
            job=self.paths.requests(benchmark),
        )

    @artifact
    def gold(self, benchmark: str) -> Artifact:
        return Artifact(
            (self.paths.gold(benchmark),),
            [*self._raw(benchmark, self.benchmark(benchmark).GOLD_FILES), self._selected(benchmark)],
            f"{PREPARE}:write_gold",
            code=(GOLD, benchmark),
            job=self.paths.requests(benchmark),
        )

    def _items_and_gold(self, benchmark: str) -> list[Input]:
        """Items and their gold."""
        return [self.items(benchmark).output(), self.gold(benchmark).output()]


def changed_file(entry: FetchEntry) -> str | None:
    """A message where an image was copied from a file of the project that has other bytes now."""
    file = entry.own_file
    if file is None or (Path(file).is_file() and of_file(file) == entry.sha256):
        return None
    return f"{file} changed since it was fetched for {entry.item_id}"


def _fetch_log_content(file: str) -> Any:
    """A fetch log without when and from where: those differ from machine to machine."""
    return [(e.item_id, e.state, e.reason, e.path, e.sha256) for e in read_records(file, FetchEntry)]
