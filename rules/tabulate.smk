# Tables: what the benchmarks declare, and what is said over all of them.
rule cells:
    input:
        needs("cells"),
    output:
        update(PATHS.cells("{benchmark}", "{model}")),
    log:
        f"{PATHS.logs}/tabulate/{{benchmark}}/{{model}}.log",
    benchmark:
        f"{PATHS.logs}/tabulate/{{benchmark}}/{{model}}.tsv"
    message:
        "cells of {wildcards.model} on {wildcards.benchmark}"
    shell:
        "python scripts/cells.py --benchmark {wildcards.benchmark} --model {wildcards.model} &> {log}"


rule table:
    input:
        needs("table"),
    output:
        csv=report(
            update(PATHS.table("{table}.csv")),
            category=lambda wildcards: GRAPH.tables[wildcards.table][0],
            caption="../report/table.rst",
            labels=lambda wildcards: GRAPH.labels(wildcards.table),
        ),
        markdown=update(PATHS.table("{table}.md")),
        latex=update(PATHS.table("{table}.tex")),
        lineage=update(PATHS.table("{table}.lineage.json")),
    log:
        f"{PATHS.logs}/tabulate/{{table}}.log",
    benchmark:
        f"{PATHS.logs}/tabulate/{{table}}.tsv"
    params:
        benchmark=lambda wildcards: GRAPH.tables[wildcards.table][0],
        table=lambda wildcards: GRAPH.tables[wildcards.table][1],
    message:
        "table {wildcards.table}"
    shell:
        "python scripts/table.py --benchmark {params.benchmark} --table {params.table} &> {log}"


rule unread:
    input:
        needs("unread"),
    output:
        report(
            update(PATHS.unread("{benchmark}")),
            category="Overviews",
            caption="../report/unread.rst",
            labels={"table": "unread answers of {benchmark}"},
        ),
    log:
        f"{PATHS.logs}/tabulate/unread_{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/tabulate/unread_{{benchmark}}.tsv"
    message:
        "answers to {wildcards.benchmark} that were not read"
    shell:
        "python scripts/unread.py --benchmark {wildcards.benchmark} &> {log}"


rule ranks:
    input:
        needs("ranks"),
    output:
        report(
            update(PATHS.ranks("{benchmark}")),
            category="Overviews",
            caption="../report/ranks.rst",
            labels={"table": "ranks of models in {benchmark}"},
        ),
    log:
        f"{PATHS.logs}/tabulate/ranks_{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/tabulate/ranks_{{benchmark}}.tsv"
    message:
        "ranges of ranks in {wildcards.benchmark}"
    shell:
        "python scripts/ranks.py --benchmark {wildcards.benchmark} &> {log}"


rule discrepancies:
    input:
        needs("discrepancies"),
    output:
        report(
            update(PATHS.discrepancies),
            category="Overviews",
            caption="../report/discrepancies.rst",
        ),
    log:
        f"{PATHS.logs}/tabulate/discrepancies.log",
    benchmark:
        f"{PATHS.logs}/tabulate/discrepancies.tsv"
    message:
        "where the two rules differ"
    shell:
        "python scripts/discrepancies.py &> {log}"


rule metrics:
    input:
        needs("metrics"),
    output:
        update(PATHS.metrics),
        report(
            update(PATHS.plots),
            category="Overviews",
            caption="../report/metrics.rst",
        ),
    log:
        f"{PATHS.logs}/tabulate/metrics.log",
    benchmark:
        f"{PATHS.logs}/tabulate/metrics.tsv"
    message:
        "the main values of every table"
    shell:
        "python scripts/metrics.py &> {log}"
