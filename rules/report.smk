# Pages and figures, made of tables, scores and answers; they compute no score of their own.
rule figure:
    input:
        inputs("figure"),
    output:
        svg=report(
            update(PATHS.table("{table}.svg")),
            category=lambda wildcards: PROJECT.by_path[wildcards.table][0],
            caption="../report/figure.rst",
            labels=lambda wildcards: {"table": wildcards.table},
        ),
        pdf=update(PATHS.table("{table}.pdf")),
    log:
        f"{PATHS.logs}/figure/{{table}}.log",
    localrule: True
    params:
        **params_of("figure"),
    message:
        "figure of table {wildcards.table}: {params.why}"
    shell:
        "{params.run}"


rule report:
    input:
        inputs("report"),
    output:
        update(f"{PATHS.report}/index.html"),
        update(f"{PATHS.report}/files.json"),
    log:
        f"{PATHS.logs}/report.log",
    localrule: True
    params:
        **params_of("report"),
    message:
        f"report pages: {PATHS.report}/index.html: {{params.why}}"
    shell:
        "{params.run}"
