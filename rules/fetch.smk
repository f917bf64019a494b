# Published bytes: copied from data/demo/ (corpus=demo), else fetched from the URL manifests. update(): what is there is
# neither deleted before a job nor lost when it fails.
rule fetch_annotations:
    input:
        needs("raw"),
    output:
        update(PATHS.raw("{benchmark}", "annotations.made.json")),
    log:
        f"{PATHS.logs}/fetch/annotations_{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/fetch/annotations_{{benchmark}}.tsv"
    wildcard_constraints:
        benchmark=wildcard(PROJECT.manifests),  # of released runs, too
    localrule: True
    message:
        "released files of {wildcards.benchmark}"
    shell:
        "python scripts/stage.py raw --benchmark {wildcards.benchmark} &> {log}"


rule fetch_images:
    input:
        needs("images"),
    output:
        update(PATHS.ledger("{benchmark}")),
    log:
        f"{PATHS.logs}/fetch/images_{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/fetch/images_{{benchmark}}.tsv"
    localrule: True
    message:
        "images of {wildcards.benchmark}"
    shell:
        "python scripts/stage.py images --benchmark {wildcards.benchmark} &> {log}"


rule select_items:
    input:
        needs("select_items"),
    output:
        update(PATHS.selected("{benchmark}")),
    log:
        f"{PATHS.logs}/fetch/select_{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/fetch/select_{{benchmark}}.tsv"
    message:
        "items of {wildcards.benchmark} that are evaluated"
    shell:
        "python scripts/stage.py select_items --benchmark {wildcards.benchmark} &> {log}"


rule availability:
    input:
        needs("availability"),
    output:
        report(
            update(PATHS.availability("{benchmark}")),
            category="Overviews",
            caption="../report/availability.rst",
            labels={"table": "availability of {benchmark}"},
        ),
    log:
        f"{PATHS.logs}/fetch/availability_{{benchmark}}.log",
    benchmark:
        f"{PATHS.logs}/fetch/availability_{{benchmark}}.tsv"
    message:
        "which images of {wildcards.benchmark} there are"
    shell:
        "python scripts/stage.py availability --benchmark {wildcards.benchmark} &> {log}"
