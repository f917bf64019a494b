# Pages and pictures to look at, made of tables, scores and answers; they compute no score of their own.
rule figure:
    input:
        needs("figure"),
    output:
        svg=report(
            update(PATHS.table("{table}.svg")),
            category=lambda wildcards: GRAPH.tables[wildcards.table][0],
            caption="../report/figure.rst",
            labels=lambda wildcards: GRAPH.labels(wildcards.table),
        ),
        pdf=update(PATHS.table("{table}.pdf")),
    log:
        f"{PATHS.logs}/figure/{{table}}.log",
    benchmark:
        f"{PATHS.logs}/figure/{{table}}.tsv"
    params:
        benchmark=lambda wildcards: GRAPH.tables[wildcards.table][0],
        table=lambda wildcards: GRAPH.tables[wildcards.table][1],
    message:
        "figure of table {wildcards.table}"
    shell:
        "python scripts/stage.py figure --benchmark {params.benchmark} --table {params.table} &> {log}"


rule report_items:
    input:
        needs("report_items"),
    output:
        update(PATHS.report_items("{benchmark}")),
    log:
        f"{PATHS.logs}/report/{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/report/{{benchmark}}.tsv"
    message:
        "items of {wildcards.benchmark} for the report"
    shell:
        "python scripts/stage.py report_items --benchmark {wildcards.benchmark} &> {log}"


rule report_answers:
    input:
        needs("report_answers"),
    output:
        update(PATHS.report_answers("{benchmark}", "{model}")),
    log:
        f"{PATHS.logs}/report/{{benchmark}}/{{model}}.log",
    benchmark:
        f"{PATHS.logs}/report/{{benchmark}}/{{model}}.tsv"
    message:
        "answers of {wildcards.model} to {wildcards.benchmark} for the report"
    shell:
        "python scripts/stage.py report_answers --benchmark {wildcards.benchmark} --model {wildcards.model} &> {log}"


rule report:
    input:
        needs("report"),
    output:
        update(f"{PATHS.report}/index.html"),
        update(f"{PATHS.report}/files.json"),
    log:
        f"{PATHS.logs}/report.log",
    benchmark:
        f"{PATHS.logs}/report.tsv"
    message:
        f"report pages: {PATHS.report}/index.html (to open them: punchline view)"
    shell:
        "python scripts/stage.py report &> {log}"
