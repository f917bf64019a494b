# The selection, and functions that say which files a rule reads.
import json
import re
from pathlib import Path

import msgspec

from snakemake.exceptions import WorkflowError

from punchline.core import benchmark as benchmarks, engine as engines
from punchline.project import adapters, small_models
from punchline.stages import finetune
from punchline.project.code import code_of
from punchline.project.selection import (
    hand_to_scripts,
    read_card,
    read_selection,
    stems,
)
from punchline.core.errors import PunchlineError, nearest
from punchline.stages.fetch import Annotation, read_manifest
from punchline.project.hops import (
    CHAINED,
    HOPS,
    RELEASED,
    hops_of,
    requests_path,
    scorers_of,
    snapshot_path,
)
from punchline.stages.tabulate import card_of_released
from punchline.core.records import LedgerEntry, ModelCard
from punchline.core.storage import read_records

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
    JUDGES = {
        name: read_card(name, "config/judge")
        for name in [
            *([SELECTION.judge] if SELECTION.judge else []),
            *SELECTION.scorers,
        ]
    }
    for card in JUDGES.values():
        engines.load(card, SELECTION.seed)
    # Of the selected models: another recipe's mistake stops nobody.
    RECIPES = {
        name: finetune.read_recipe(name)
        for name in stems(finetune.FOLDER)
        if name in {card.options.get("adapter") for card in CARDS.values()}
    }
    BASES = {name: read_card(recipe.base) for name, recipe in RECIPES.items()}
    SCORERS = scorers_of(JUDGES[name] for name in SELECTION.scorers)
    # What the answers of a model lead to: {hop: who answers it}.
    HOPS_OF = {
        (benchmark, model): hops_of(
            loaded,
            CARDS[model],
            engine,
            conditions=SELECTION.conditions,
            judge=SELECTION.judge,
            scorers=SCORERS,
        )
        for benchmark, loaded in BENCHMARKS.items()
        for model, engine in ENGINES.items()
    }
except PunchlineError as error:
    raise WorkflowError(str(error)) from None

hand_to_scripts(MIRROR)
ENGINE_MODULES = sorted(
    {f"punchline.engines.{card.engine}" for card in [*CARDS.values(), *JUDGES.values()]}
)
# {judge or scorer: (benchmark, hop, model) whose answers it is asked about}
ABOUT = {}
for pair, hops in HOPS_OF.items():
    for hop, who in hops.items():
        if hop != CHAINED:
            ABOUT.setdefault(who, []).append((pair[0], hop, pair[1]))
# {model: benchmarks in which its answers lead to further questions to itself}
CHAINED_OF = {
    model: [name for name in BENCHMARKS if CHAINED in HOPS_OF[name, model]]
    for model in CARDS
}
# Benchmarks whose images some selected model looks at.
ILLUSTRATED = [
    name
    for name, module in BENCHMARKS.items()
    if module.IMAGES
    and any(engines.looks_at(engine, name) for engine in ENGINES.values())
]


wildcard_constraints:
    benchmark="|".join(SELECTION.benchmarks),
    model="|".join(map(re.escape, SELECTION.models)),
    hop="|".join(HOPS),


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
        snapshot_path(benchmark, hop, model)
        for (benchmark, model), hops in HOPS_OF.items()
        for hop in hops
    ]


def with_price(card):
    return card.asked() | {"price": msgspec.to_builtins(card.price)}


def asked():
    """[benchmark, model, hop, card of who is asked, snapshot] of everything that is asked of anybody."""
    found = []
    for (benchmark, model), hops in HOPS_OF.items():
        snapshot = f"data/responses/{benchmark}/{model}.parquet"
        found.append([benchmark, model, "answer", with_price(CARDS[model]), snapshot])
        for hop, who in hops.items():
            card = CARDS[model] if hop == CHAINED else JUDGES.get(who)
            if who == RELEASED:
                nobody = ModelCard(name=RELEASED, engine="replay")
                card = card_of_released(ENGINES[model]) or nobody
            snapshot = snapshot_path(benchmark, hop, model)
            found.append([benchmark, model, hop, with_price(card), snapshot])
    return found


def judge_cards(who):
    """{name: card} of who answers: itself, or every model whose file has released verdicts."""
    if who == RELEASED:
        return {model: CARDS[model].asked() for _, _, model in ABOUT[who]}
    return {who: JUDGES[who].asked()}


def judge_modules(who):
    engine = "replay" if who == RELEASED else JUDGES[who].engine
    return [f"punchline.engines.{engine}"]


def own_requests(wildcards):
    """What a model itself was asked: on items, and on its own answers."""
    files = [f"data/requests/{wildcards.benchmark}.parquet"]
    if CHAINED in HOPS_OF[wildcards.benchmark, wildcards.model]:
        files.append(requests_path(wildcards.benchmark, CHAINED, wildcards.model))
    return files


def own_snapshots(wildcards):
    files = [f"data/responses/{wildcards.benchmark}/{wildcards.model}.parquet"]
    if CHAINED in HOPS_OF[wildcards.benchmark, wildcards.model]:
        files.append(snapshot_path(wildcards.benchmark, CHAINED, wildcards.model))
    return files


def judges_of(wildcards):
    hops = HOPS_OF[wildcards.benchmark, wildcards.model]
    return {hop: who for hop, who in hops.items() if hop != CHAINED}


def judged_files(wildcards):
    """What judges and scorers were asked about a model's answers, and what they said."""
    return [
        path(wildcards.benchmark, hop, wildcards.model)
        for hop in judges_of(wildcards)
        for path in (requests_path, snapshot_path)
    ]


def judge_arguments(wildcards):
    judges = judges_of(wildcards)
    words = [f"{hop}={who}" for hop, who in judges.items()]
    return " ".join(["--judges", *words]) if words else ""


def files_of_engine(engine):
    return engine.files if isinstance(engine, engines.Released) else []


def model_files(card):
    """What has to be built before a model can be loaded: small models that the project makes itself, adapters."""
    name = small_models.builder_of(str(card.options.get("id", "")))
    files = [f"data/models/{name}/punchline.json"] if name else []
    adapter = card.options.get("adapter")
    if adapter is not None:
        manifest = adapters.manifest_of(adapter)
        recipe = RECIPES.get(adapter)
        if not manifest.is_file() and recipe is None:
            way_out = nearest(adapter, stems(finetune.FOLDER))
            raise WorkflowError(
                f"{card.file}, field adapter: no recipe {adapter!r}. {way_out}"
            )
        if not manifest.is_file() and recipe.benchmark not in SELECTION.benchmarks:
            raise WorkflowError(
                f"{card.file}: the adapter {adapter} is not trained, and training it needs items of"
                f" {recipe.benchmark}. Select that benchmark too"
            )
        files.append(manifest.as_posix())
    return files


def trained_on(name, adapter):
    """Items or gold that an adapter is trained on, however old where it is trained.

    An adapter that is out of date takes them as they are: Snakemake looks at no other reason to run a job that has
    ancient inputs when these are made anew.
    """
    recipe = RECIPES[adapter]
    path = f"data/items/{recipe.benchmark}/{name}"
    current = finetune.is_trained(recipe, BASES[adapter], SELECTION.corpus.name)
    return ancient(path) if current else path


def gpus(card):
    """How many a model's job asks a scheduler for: what the card says, else what its engine takes."""
    if card.gpus is not None:
        return card.gpus
    if card.engine == "vllm" and "base_url" not in card.options:
        return card.options.get("tensor_parallel", 1)
    if card.engine in ("transformers", "similarity"):
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
        if path.startswith(f"data/responses/{benchmark}/") and path not in files
    ]
    if BENCHMARKS[benchmark].JUDGES:  # their prices are in its tables
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
