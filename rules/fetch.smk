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
        localrule: True
        conda:
            "../environment.yml"
        params:
            selection=JSON,
        shell:
            "python scripts/draw_demo.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"

    rule drawn_images:
        input:
            needs("images"),
        output:
            update(PATHS.ledger("{benchmark}")),
        log:
            f"{PATHS.logs}/fetch/drawn_images_{{benchmark}}.log",
        localrule: True
        conda:
            "../environment.yml"
        params:
            selection=JSON,
        shell:
            "python scripts/drawn_images.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"

else:

    rule fetch_annotations:
        input:
            needs("raw"),
        output:
            update(PATHS.raw("{benchmark}", "annotations.made.json")),
        log:
            f"{PATHS.logs}/fetch/annotations_{{benchmark}}.log",
        localrule: True
        conda:
            "../environment.yml"
        params:
            selection=JSON,
        shell:
            "python scripts/fetch_annotations.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"

    rule fetch_images:
        input:
            needs("images"),
        output:
            update(PATHS.ledger("{benchmark}")),
        log:
            f"{PATHS.logs}/fetch/images_{{benchmark}}.log",
        localrule: True
        conda:
            "../environment.yml"
        params:
            selection=JSON,
        shell:
            "python scripts/fetch_images.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"


rule select_items:
    input:
        needs("select_items"),
    output:
        update(PATHS.selected("{benchmark}")),
    log:
        f"{PATHS.logs}/fetch/select_{{benchmark}}.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/select_items.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"


rule availability:
    input:
        needs("availability"),
    output:
        update(PATHS.availability("{benchmark}")),
    log:
        f"{PATHS.logs}/fetch/availability_{{benchmark}}.log",
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/availability.py --selection {params.selection:q} --benchmark {wildcards.benchmark} |& tee {log} >&2"
