rule score:
    input:
        inputs("score"),
    output:
        update(PATHS.scores("{benchmark}", "{model}")),
    log:
        f"{PATHS.logs}/score/{{benchmark}}/{{model}}.log",
    localrule: True
    params:
        **params_of("score"),
    message:
        "scores of {wildcards.model} on {wildcards.benchmark}: {params.why}"
    shell:
        "{params.run}"
