# Released files and images: copied from data/demo/ (corpus=demo), else fetched from the URL manifests. update(): a file is
# neither deleted before its job nor lost when the job fails.
rule fetch:
    input:
        inputs("fetch"),
    output:
        update(PATHS.raw("{benchmark}", "annotations.made.json")),
    log:
        f"{PATHS.logs}/fetch/{{benchmark}}.log",
    wildcard_constraints:
        benchmark=wildcard(PROJECT.manifests),  # of released runs, too
    localrule: True
    params:
        **params_of("fetch"),
    message:
        "released files of {wildcards.benchmark}: {params.why}"
    shell:
        "{params.run}"


# What models see and are asked (images, items, requests), and gold apart from it: a corrected label causes no request.
rule prepare:
    input:
        inputs("prepare"),
    output:
        update(PATHS.requests("{benchmark}")),
    log:
        f"{PATHS.logs}/prepare/{{benchmark}}.log",
    localrule: True
    threads: MANY_THREADS
    params:
        **params_of("prepare"),
    message:
        "items, gold and requests of {wildcards.benchmark}: {params.why}"
    shell:
        "{params.run}"
