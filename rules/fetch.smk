# Published bytes: drawn by the project (corpus=demo), else fetched from the URL manifests. update(): what is there is
# neither deleted before a job nor lost when it fails.
if SELECTION.corpus.drawn:

    rule draw_demo:
        input:
            needs("raw"),
        output:
            update(PATHS.raw("{benchmark}", "annotations.made.json")),
        log:
            f"{PATHS.logs}/fetch/draw_demo_{{benchmark}}.log",
        benchmark:
            f"{PATHS.logs}/fetch/draw_demo_{{benchmark}}.tsv"
        localrule: True
        message:
            "demo corpus of {wildcards.benchmark}, drawn"
        shell:
            "python scripts/draw_demo.py --benchmark {wildcards.benchmark} &> {log}"

    rule drawn_images:
        input:
            needs("images"),
        output:
            update(PATHS.ledger("{benchmark}")),
        log:
            f"{PATHS.logs}/fetch/drawn_images_{{benchmark}}.log",
        benchmark:
            f"{PATHS.logs}/fetch/drawn_images_{{benchmark}}.tsv"
        localrule: True
        message:
            "ledger of the drawn images of {wildcards.benchmark}"
        shell:
            "python scripts/drawn_images.py --benchmark {wildcards.benchmark} &> {log}"

else:

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
            "released files of {wildcards.benchmark}, fetched"
        shell:
            "python scripts/fetch_annotations.py --benchmark {wildcards.benchmark} &> {log}"

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
            "images of {wildcards.benchmark}, fetched"
        shell:
            "python scripts/fetch_images.py --benchmark {wildcards.benchmark} &> {log}"


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
        "python scripts/select_items.py --benchmark {wildcards.benchmark} &> {log}"


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
        "python scripts/availability.py --benchmark {wildcards.benchmark} &> {log}"
