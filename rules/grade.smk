rule grade:
    input:
        needs("grade"),
    output:
        update(PATHS.grades("{benchmark}", "{model}")),
    log:
        f"{PATHS.logs}/grade/{{benchmark}}/{{model}}.log",
    benchmark:
        f"{PATHS.logs}/grade/{{benchmark}}/{{model}}.tsv"
    message:
        "grades of {wildcards.model} on {wildcards.benchmark}"
    shell:
        "python scripts/grade.py --benchmark {wildcards.benchmark} --model {wildcards.model} &> {log}"
