# What a run has cost.
rule cost:
    input:
        needs("cost"),
    output:
        update(PATHS.cost),
    log:
        f"{PATHS.logs}/cost.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/cost.py --selection {params.selection:q}  |& tee {log} >&2"
