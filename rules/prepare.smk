# What models see (pictures, items), and gold apart from it: a corrected label re-asks nobody.
rule pictures:
    input:
        needs("pictures"),
    output:
        update(PATHS.index("{benchmark}")),
    log:
        f"{PATHS.logs}/prepare/pictures_{{benchmark}}.log",
    conda:
        "../environment.yml"
    threads: workflow.cores or 1
    params:
        selection=JSON,
    shell:
        "python scripts/pictures.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"


rule items:
    input:
        needs("items"),
    output:
        update(PATHS.items("{benchmark}")),
    log:
        f"{PATHS.logs}/prepare/items_{{benchmark}}.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/items.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"


rule gold:
    input:
        needs("gold"),
    output:
        update(PATHS.gold("{benchmark}")),
    log:
        f"{PATHS.logs}/prepare/gold_{{benchmark}}.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/gold.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"
