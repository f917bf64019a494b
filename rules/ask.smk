# Requests: one per item and task; in a second pass, those that depend on answers.
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


rule ask_hop:
    input:
        needs("ask_hop"),
    output:
        update(PATHS.hop_requests("{benchmark}", "{hop}", "{model}")),
    log:
        f"{PATHS.logs}/ask/{{benchmark}}_{{hop}}/{{model}}.log",
    benchmark:
        f"{PATHS.logs}/ask/{{benchmark}}_{{hop}}/{{model}}.tsv"
    message:
        "requests of {wildcards.benchmark} that depend on answers of {wildcards.model} ({wildcards.hop})"
    shell:
        "python scripts/stage.py ask_hop --benchmark {wildcards.benchmark} --hop {wildcards.hop}"
        " --model {wildcards.model} &> {log}"
