# The graph: configuration, includes, target rules; nothing else. One .smk a stage in rules/.
from snakemake.utils import min_version

min_version("9.5")


include: "rules/common.smk"


# On a cluster these stay where Snakemake runs: seconds each, or in need of the network. Submitted: pictures, infer, judge_*.
localrules:
    all,
    fetch,
    prepare,
    responses,
    all_tables,
    select_items,
    availability,
    items,
    gold,
    ask,
    ask_chained,
    ask_judge,
    small_model,
    grade,
    discrepancies,
    cost,
    plan,


rule all:
    default_target: True
    input:
        all_tables_files(),
        availability_files(),


rule fetch:
    input:
        raw_files_of_selection(),


rule prepare:
    input:
        expand("data/items/{benchmark}/items.jsonl", benchmark=SELECTION.benchmarks),
        expand("data/items/{benchmark}/gold.jsonl", benchmark=SELECTION.benchmarks),


rule responses:
    input:
        snapshot_files(),


rule all_tables:
    input:
        all_tables_files(),


include: "rules/fetch.smk"
include: "rules/prepare.smk"
include: "rules/ask.smk"
include: "rules/models.smk"
include: "rules/finetune.smk"
include: "rules/infer.smk"
include: "rules/grade.smk"
include: "rules/tabulate.smk"
include: "rules/cost.smk"
