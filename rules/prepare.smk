# What models see (pictures, items), and gold apart from it: a corrected label re-asks nobody.
rule pictures:
    input:
        needs("pictures"),
    output:
        update(PATHS.index("{benchmark}")),
    log:
        f"{PATHS.logs}/prepare/pictures_{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/prepare/pictures_{{benchmark}}.tsv"
    threads: MANY_THREADS
    resources:
        mem_mb=lambda wildcards, attempt: memory_mb(None, attempt),
    message:
        "prepared images of {wildcards.benchmark}"
    shell:
        "python scripts/stage.py pictures --benchmark {wildcards.benchmark} --threads {threads} &> {log}"


rule items:
    input:
        needs("items"),
    output:
        update(PATHS.items("{benchmark}")),
    log:
        f"{PATHS.logs}/prepare/items_{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/prepare/items_{{benchmark}}.tsv"
    message:
        "items of {wildcards.benchmark}"
    shell:
        "python scripts/stage.py items --benchmark {wildcards.benchmark} &> {log}"


rule gold:
    input:
        needs("gold"),
    output:
        update(PATHS.gold("{benchmark}")),
    log:
        f"{PATHS.logs}/prepare/gold_{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/prepare/gold_{{benchmark}}.tsv"
    message:
        "gold labels of {wildcards.benchmark}"
    shell:
        "python scripts/stage.py gold --benchmark {wildcards.benchmark} &> {log}"
