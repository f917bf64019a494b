# Prompts, rendered; and what hangs on answers, asked one hop later.
rule ask:
    input:
        needs("ask"),
    output:
        update(PATHS.requests("{benchmark}")),
    log:
        f"{PATHS.logs}/ask/{{benchmark}}.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/ask.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"


rule ask_hop:
    input:
        needs("ask_hop"),
    output:
        update(PATHS.hop_requests("{benchmark}", "{hop}", "{model}")),
    log:
        f"{PATHS.logs}/ask/{{benchmark}}_{{hop}}/{{model}}.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/ask_hop.py --selection {params.selection:q} --benchmark {wildcards.benchmark} --hop {wildcards.hop} --model {wildcards.model} |& tee {log} >&2"
