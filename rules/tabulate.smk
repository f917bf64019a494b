# Tables: what the benchmarks declare, and what is said over all of them.
# One job a benchmark, over all of its tables. Their paths do not name the benchmark, so each job is a rule of its own.
for name in SELECTION.benchmarks:
    made = {table: spec.file for table, spec in PROJECT.benchmark(name).TABLES.items()}
    stems = [PATHS.table(file.removesuffix(".csv")) for file in made.values()]

    rule:
        name:
            f"tables_{name}"
        input:
            needs("tables", benchmark=name),
        output:
            [
                report(
                    update(f"{stem}.csv"),
                    category=name,
                    caption="../report/table.rst",
                    labels=GRAPH.labels(file.removesuffix(".csv")),
                )
                for stem, file in zip(stems, made.values())
            ],
            [
                update(f"{stem}.{ending}")
                for stem in stems
                for ending in ("md", "tex", "lineage.json")
            ],
        log:
            f"{PATHS.logs}/tabulate/{name}.log",
        benchmark:
            f"{PATHS.logs}/tabulate/{name}.tsv"
        localrule: True
        params:
            benchmark=name,
        message:
            f"tables of {name}"
        shell:
            "python scripts/stage.py tables --benchmark {params.benchmark} &> {log}"


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
        "unparsed answers to {wildcards.benchmark}"
    shell:
        "python scripts/stage.py unread --benchmark {wildcards.benchmark} &> {log}"


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
        "ranks of models in {wildcards.benchmark}"
    shell:
        "python scripts/stage.py ranks --benchmark {wildcards.benchmark} &> {log}"


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
        "differences between the two scoring rules"
    shell:
        "python scripts/stage.py discrepancies &> {log}"


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
        "main values of every table"
    shell:
        "python scripts/stage.py metrics &> {log}"
