rule grade:
    input:
        needs("grade"),
    output:
        update(PATHS.grades("{benchmark}", "{model}")),
    log:
        f"{PATHS.logs}/grade/{{benchmark}}/{{model}}.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/grade.py --selection {params.selection:q} --benchmark {wildcards.benchmark} --model {wildcards.model} |& tee {log} >&2"
