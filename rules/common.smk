# The selection, and functions that say which files a rule reads.
import json
import re
from pathlib import Path

import msgspec

from snakemake.exceptions import WorkflowError

from punchline import benchmarks, engines
from punchline.code import code_of
from punchline.config import hand_to_scripts, read_card, read_selection
from punchline.errors import PunchlineError
from punchline.fetch import Annotation, read_manifest
from punchline.records import LedgerEntry
from punchline.storage import read_records

try:
    SELECTION, MIRROR = read_selection(config)
    CARDS = {name: read_card(name) for name in SELECTION.models}
    ENGINES = {name: engines.load(card, SELECTION.seed) for name, card in CARDS.items()}
    BENCHMARKS = {name: benchmarks.load(name) for name in SELECTION.benchmarks}
    for card in CARDS.values():
        engines.check_files(card, ENGINES[card.name])
    ANNOTATIONS = read_manifest(
        Path("data/manifests/pixelhumor/annotations.csv"), Annotation
    )
except PunchlineError as error:
    raise WorkflowError(str(error)) from None

hand_to_scripts(MIRROR)
ENGINE_MODULES = sorted({f"punchline.engines.{card.engine}" for card in CARDS.values()})
NEEDS_IMAGES = any(engine.needs_images for engine in ENGINES.values())


wildcard_constraints:
    benchmark="|".join(SELECTION.benchmarks),
    model="|".join(map(re.escape, SELECTION.models)),


def as_json(value):
    return json.dumps(value, sort_keys=True)


def raw(benchmark, *names):
    return [f"{SELECTION.raw(benchmark)}/{name}" for name in names]


def item_files(wildcards):
    return raw(wildcards.benchmark, *BENCHMARKS[wildcards.benchmark].ITEM_FILES)


def gold_files(wildcards):
    return raw(wildcards.benchmark, *BENCHMARKS[wildcards.benchmark].GOLD_FILES)


def annotation_names():
    """The released files of PixelHumor, as the manifest lists them."""
    return [entry.path for entry in ANNOTATIONS]


def raw_files_of_selection():
    files = [
        path
        for name in SELECTION.benchmarks
        for path in raw(name, *annotation_names(), "selected.csv")
    ]
    return files + (
        [path for name in SELECTION.benchmarks for path in raw(name, "ledger.jsonl")]
        if NEEDS_IMAGES
        else []
    )


def availability_files():
    return [
        f"results/{name}/availability.csv"
        for name in SELECTION.benchmarks
        if NEEDS_IMAGES
    ]


def all_tables_files():
    files = [
        table.path
        for benchmark in BENCHMARKS.values()
        for table in benchmark.TABLES.values()
    ]
    return [*files, "results/discrepancies.csv"]


def files_of_engine(engine):
    return engine.files if isinstance(engine, engines.Released) else []


def chain_files(benchmark):
    """What a table's lineage names besides grades."""
    files = raw(
        benchmark,
        "selected.csv",
        *BENCHMARKS[benchmark].ITEM_FILES,
        *BENCHMARKS[benchmark].GOLD_FILES,
    )
    files += [f"data/items/{benchmark}/{name}.jsonl" for name in ("items", "gold")]
    files += [f"data/requests/{benchmark}.parquet"]
    files += [
        f"data/responses/{benchmark}/{model}.parquet" for model in SELECTION.models
    ]
    files += [f"config/model/{model}.yaml" for model in SELECTION.models]
    files += [
        str(path)
        for engine in ENGINES.values()
        for path in getattr(engine, "files", [])
    ]
    if NEEDS_IMAGES:
        files += [
            *raw(benchmark, "ledger.jsonl"),
            f"data/images/{benchmark}/index.jsonl",
        ]
    return list(dict.fromkeys(files))


def benchmark_code(script):
    return lambda wildcards: code_of(
        script, f"punchline.benchmarks.{wildcards.benchmark}"
    )


def published_images(wildcards):
    """The images that the ledger says are there: known once the ledger is.

    A damaged ledger and an image that is gone are reported by the job itself, without Snakemake's stack.
    """
    stage = (
        checkpoints.draw_demo if SELECTION.corpus.drawn else checkpoints.fetch_images
    )
    ledger = stage.get(benchmark=wildcards.benchmark).output.ledger
    try:
        entries = read_records(ledger, LedgerEntry)
    except PunchlineError:
        return []
    return [
        entry.path
        for entry in entries
        if entry.state == "ok" and Path(entry.path).is_file()
    ]
