# Requests: one per item and task. Those that depend on answers are made by the job that asks them.
rule ask:
    input:
        needs("ask"),
    output:
        update(PATHS.requests("{benchmark}")),
    log:
        f"{PATHS.logs}/ask/{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/ask/{{benchmark}}.tsv"
    message:
        "requests of {wildcards.benchmark}"
    shell:
        "python scripts/stage.py ask --benchmark {wildcards.benchmark} &> {log}"
