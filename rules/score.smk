rule score:
    input:
        needs("score"),
    output:
        update(PATHS.scores("{benchmark}", "{model}")),
    log:
        f"{PATHS.logs}/score/{{benchmark}}/{{model}}.log",
    benchmark:
        f"{PATHS.logs}/score/{{benchmark}}/{{model}}.tsv"
    message:
        "scores of {wildcards.model} on {wildcards.benchmark}"
    shell:
        "python scripts/stage.py score --benchmark {wildcards.benchmark} --model {wildcards.model} &> {log}"
