# The workflow: configuration, includes, target rules. The rules of each stage are in rules/.
# On a cluster, respond and train are submitted; local rules take seconds each, or need the network.
from snakemake.utils import min_version

min_version("9.16")


report: "report/workflow.rst"


include: "rules/common.smk"


onstart:
    SNAKEFILE.start()


onsuccess:
    SNAKEFILE.done()


onerror:
    SNAKEFILE.failed()


rule all:
    default_target: True
    input:
        all_of("tables"),
        all_of("overview"),


rule fetch_all:
    input:
        all_of("fetch"),


rule prepare_all:
    input:
        all_of("prepare"),


rule respond_all:
    input:
        all_of("respond"),


rule all_tables:
    input:
        rules.all.input,


rule figures:
    input:
        all_of("figure"),


include: "rules/data.smk"
include: "rules/train.smk"
include: "rules/respond.smk"
include: "rules/score.smk"
include: "rules/tables.smk"
include: "rules/report.smk"
