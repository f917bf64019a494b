# What a run has cost.
rule cost:
    input:
        needs("cost"),
    output:
        report(update(PATHS.cost), category="Overviews", caption="../report/cost.rst"),
    log:
        f"{PATHS.logs}/cost.log",
    benchmark:
        f"{PATHS.logs}/cost.tsv"
    message:
        "cost of answers and verdicts"
    shell:
        "python scripts/stage.py cost &> {log}"
