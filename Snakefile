# The graph: configuration, includes, target rules; nothing else. One .smk a stage in rules/.
from snakemake.utils import min_version

min_version("9.16")


report: "report/workflow.rst"


include: "rules/common.smk"


# On a cluster these stay where Snakemake runs: seconds each, or in need of the network. Submitted: pictures, respond, finetune.
localrules:
    all,
    fetch,
    prepare,
    questions,
    responses,
    all_tables,
    figures,
    select_items,
    availability,
    items,
    gold,
    ask,
    score,
    unread,
    ranks,
    discrepancies,
    metrics,
    cost,
    figure,
    report_items,
    report_answers,
    report,


onstart:
    SNAKEFILE.start()


onsuccess:
    SNAKEFILE.done()


rule all:
    default_target: True
    input:
        all_of("tables"),
        all_of("availability"),
        all_of("unread"),
        all_of("ranks"),
        PATHS.discrepancies,
        PATHS.cost,
        PATHS.metrics,


rule fetch:
    input:
        all_of("raw"),
        all_of("select_items"),
        all_of("images"),


rule prepare:
    input:
        all_of("items"),
        all_of("gold"),


rule questions:
    input:
        all_of("items"),
        all_of("gold"),
        all_of("ask"),


rule responses:
    input:
        all_of("respond"),


rule all_tables:
    input:
        all_of("tables"),
        all_of("unread"),
        all_of("ranks"),
        PATHS.discrepancies,
        PATHS.cost,


rule figures:
    input:
        all_of("figures"),


include: "rules/fetch.smk"
include: "rules/prepare.smk"
include: "rules/ask.smk"
include: "rules/models.smk"
include: "rules/respond.smk"
include: "rules/score.smk"
include: "rules/tabulate.smk"
include: "rules/cost.smk"
include: "rules/report.smk"
