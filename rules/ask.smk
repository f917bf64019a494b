# Prompts, rendered; and what hangs on answers, asked one hop later.
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
        "questions of {wildcards.benchmark}"
    shell:
        "python scripts/ask.py --benchmark {wildcards.benchmark} &> {log}"


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
        "questions ({wildcards.hop}) on what {wildcards.model} said on {wildcards.benchmark}"
    shell:
        "python scripts/ask_hop.py --benchmark {wildcards.benchmark} --hop {wildcards.hop}"
        " --model {wildcards.model} &> {log}"
