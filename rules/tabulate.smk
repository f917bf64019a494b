# Tables: what the benchmarks declare, and what is said over all of them.
rule table:
    input:
        needs("table"),
    output:
        csv=update(PATHS.table("{table}.csv")),
        markdown=update(PATHS.table("{table}.md")),
        latex=update(PATHS.table("{table}.tex")),
        lineage=update(PATHS.table("{table}.lineage.json")),
    log:
        f"{PATHS.logs}/tabulate/{{table}}.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
        benchmark=lambda wildcards: GRAPH.tables[wildcards.table][0],
        table=lambda wildcards: GRAPH.tables[wildcards.table][1],
    shell:
        "python scripts/table.py --selection {params.selection:q} --benchmark {params.benchmark}"
        " --table {params.table} |& tee {log} >&2"


rule discrepancies:
    input:
        needs("discrepancies"),
    output:
        update(PATHS.discrepancies),
    log:
        f"{PATHS.logs}/tabulate/discrepancies.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/discrepancies.py --selection {params.selection:q}  |& tee {log} >&2"


rule metrics:
    input:
        needs("metrics"),
    output:
        update(PATHS.metrics),
        update(PATHS.plots),
    log:
        f"{PATHS.logs}/tabulate/metrics.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/metrics.py --selection {params.selection:q}  |& tee {log} >&2"
