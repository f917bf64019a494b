# The selection, and functions that say which files a rule reads.
import json
import re
from pathlib import Path

import msgspec

from snakemake.exceptions import WorkflowError

from punchline import benchmarks, demo, engines, small_models
from punchline.code import code_of
from punchline.config import hand_to_scripts, read_card, read_selection
from punchline.errors import PunchlineError
from punchline.fetch import Annotation, read_manifest
from punchline.judging import RELEASED, judge_of
from punchline.lineage import card_of_released
from punchline.records import LedgerEntry, ModelCard
from punchline.storage import read_records

try:
    SELECTION, MIRROR = read_selection(config)
    CARDS = {name: read_card(name) for name in SELECTION.models}
    ENGINES = {name: engines.load(card, SELECTION.seed) for name, card in CARDS.items()}
    BENCHMARKS = {name: benchmarks.load(name) for name in SELECTION.benchmarks}
    for card in CARDS.values():
        engines.check_files(card, ENGINES[card.name])
    ANNOTATIONS = {
        name: read_manifest(Path(f"data/manifests/{name}/annotations.csv"), Annotation)
        for name in SELECTION.benchmarks
    }
    JUDGE = read_card(SELECTION.judge, "config/judge") if SELECTION.judge else None
    if JUDGE:
        engines.load(JUDGE, SELECTION.seed)
    JUDGE_OF = {
        (benchmark, model): judge_of(module, engine, SELECTION.judge)
        for benchmark, module in BENCHMARKS.items()
        for model, engine in ENGINES.items()
    }
except PunchlineError as error:
    raise WorkflowError(str(error)) from None

hand_to_scripts(MIRROR)
ENGINE_MODULES = sorted(
    {
        f"punchline.engines.{card.engine}"
        for card in [*CARDS.values(), *([JUDGE] if JUDGE else [])]
    }
)
JUDGED_BY = {
    judge: [pair for pair, who in JUDGE_OF.items() if who == judge]
    for judge in sorted(set(JUDGE_OF.values()) - {""})
}
# Benchmarks whose images some selected model looks at.
ILLUSTRATED = [
    name
    for name, module in BENCHMARKS.items()
    if module.IMAGES and any(engine.needs_images for engine in ENGINES.values())
]


wildcard_constraints:
    benchmark="|".join(SELECTION.benchmarks),
    model="|".join(map(re.escape, SELECTION.models)),


def as_json(value):
    return json.dumps(value, sort_keys=True)


def raw(benchmark, *names):
    return [f"{SELECTION.raw(benchmark)}/{name}" for name in names]


def raw_folder(wildcards, output):
    """The folder of a benchmark's raw files; the first file of a manifest lies in no folder below it."""
    return str(Path(output[0]).parent)


def item_files(wildcards):
    return raw(wildcards.benchmark, *BENCHMARKS[wildcards.benchmark].ITEM_FILES)


def gold_files(wildcards):
    return raw(wildcards.benchmark, *BENCHMARKS[wildcards.benchmark].GOLD_FILES)


def annotation_names(benchmark):
    """The released files of a benchmark, as its manifest lists them."""
    return [entry.path for entry in ANNOTATIONS[benchmark]]


def raw_files_of_selection():
    files = [
        path
        for name in SELECTION.benchmarks
        for path in raw(name, *annotation_names(name), "selected.csv")
    ]
    return files + [path for name in ILLUSTRATED for path in raw(name, "ledger.jsonl")]


def availability_files():
    return [f"results/{name}/availability.csv" for name in ILLUSTRATED]


def all_tables_files():
    files = [
        table.path
        for benchmark in BENCHMARKS.values()
        for table in benchmark.TABLES.values()
    ]
    return [*files, "results/discrepancies.csv", "results/cost.csv"]


def snapshot_files():
    """All answers: of models, and of judges on them."""
    files = expand(
        "data/responses/{benchmark}/{model}.parquet",
        benchmark=SELECTION.benchmarks,
        model=SELECTION.models,
    )
    return files + [
        f"data/responses/{benchmark}/judge/{model}.parquet"
        for (benchmark, model), judge in JUDGE_OF.items()
        if judge
    ]


def with_price(card):
    return card.asked() | {"price": msgspec.to_builtins(card.price)}


def asked():
    """[benchmark, model, hop, card of who is asked, snapshot] of everything that is asked of anybody."""
    found = []
    for (benchmark, model), judge in JUDGE_OF.items():
        snapshot = f"data/responses/{benchmark}/{model}.parquet"
        found.append([benchmark, model, "answer", with_price(CARDS[model]), snapshot])
        if judge:
            card = JUDGE
            if judge == RELEASED:
                nobody = ModelCard(name=RELEASED, engine="replay")
                card = card_of_released(ENGINES[model]) or nobody
            snapshot = f"data/responses/{benchmark}/judge/{model}.parquet"
            found.append([benchmark, model, "judge", with_price(card), snapshot])
    return found


def judge_cards(judge):
    """{name: card} of who gives this judge's verdicts: itself, or every model whose file has them."""
    if judge == RELEASED:
        return {model: CARDS[model].asked() for _, model in JUDGED_BY[judge]}
    return {judge: JUDGE.asked()}


def judge_modules(judge):
    engine = "replay" if judge == RELEASED else JUDGE.engine
    return [f"punchline.engines.{engine}"]


def judged_files(wildcards):
    """A judge's requests and verdicts on a model's answers; nothing where there is no judge."""
    if not JUDGE_OF[wildcards.benchmark, wildcards.model]:
        return []
    return [
        f"data/{what}/{wildcards.benchmark}/judge/{wildcards.model}.parquet"
        for what in ("requests", "responses")
    ]


def judge_arguments(wildcards, input):
    if not input.judged:
        return ""
    judge = JUDGE_OF[wildcards.benchmark, wildcards.model]
    return f"--judge {judge} --judge-requests {input.judged[0]} --verdicts {input.judged[1]}"


def files_of_engine(engine):
    return engine.files if isinstance(engine, engines.Released) else []


def model_files(card):
    """What has to be built before a model can be loaded: the small models that the project makes itself."""
    name = small_models.builder_of(str(card.options.get("id", "")))
    return [f"data/models/{name}/punchline.json"] if name else []


def gpus(card):
    """How many a model's job asks a scheduler for: what the card says, else what its engine takes."""
    if card.gpus is not None:
        return card.gpus
    if card.engine == "vllm" and "base_url" not in card.options:
        return card.options.get("tensor_parallel", 1)
    if card.engine == "transformers":
        return 0 if card.options.get("device") == "cpu" else 1
    return 0


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
    if benchmark in ILLUSTRATED:
        files += [
            *raw(benchmark, "ledger.jsonl"),
            f"data/images/{benchmark}/index.jsonl",
        ]
    files += [
        path
        for path in snapshot_files()
        if path.startswith(f"data/responses/{benchmark}/judge/")
    ]
    if BENCHMARKS[benchmark].JUDGED:  # their prices are in its tables
        files += [
            path.as_posix() for path in sorted(Path("config/judge").glob("*.yaml"))
        ]
    return list(dict.fromkeys(files))


def own_files(benchmark, table):
    """The user's files that are there."""
    paths = [f"config/{benchmark}/{name}" for name in table.own]
    return [path for path in paths if Path(path).is_file()]


def illustrated_files(wildcards, name):
    """[name] where a selected model looks at the benchmark's images, else []."""
    return (
        [name.format(benchmark=wildcards.benchmark)]
        if wildcards.benchmark in ILLUSTRATED
        else []
    )


def benchmark_code(script):
    return lambda wildcards: code_of(
        script, f"punchline.benchmarks.{wildcards.benchmark}"
    )


def published_images(wildcards):
    """The images that the ledger says are there: known once the ledger is.

    A damaged ledger and an image that is gone are reported by the job itself, without Snakemake's stack.
    """
    stage = (
        checkpoints.drawn_images if SELECTION.corpus.drawn else checkpoints.fetch_images
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
