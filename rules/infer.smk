# One job a model, over all selected benchmarks. The journals (paths.py) are the state and
# no declared outputs: Snakemake would delete them. What is declared are the snapshots of the answers to current requests.
rule infer:
    input:
        needs("infer"),
    output:
        update(
            expand(
                PATHS.snapshot("{benchmark}", "{{model}}"),
                benchmark=SELECTION.benchmarks,
            )
        ),
    log:
        f"{PATHS.logs}/infer/{{model}}.log",
    conda:
        "../environment.yml"
    resources:
        gpu=lambda wildcards: gpus(PROJECT.cards[wildcards.model]),
    params:
        selection=JSON,
    shell:
        "python scripts/infer.py --selection {params.selection:q} --model {wildcards.model} |& tee {log} >&2"


# One more job a model where conditions are selected that hang on its own answers.
if GRAPH.chained():

    rule infer_chained:
        input:
            needs("infer_chained"),
        output:
            update(
                expand(
                    PATHS.hop_snapshot("{benchmark}", CHAINED, "{{model}}"),
                    benchmark=GRAPH.chained(),
                )
            ),
        log:
            f"{PATHS.logs}/infer/chained_{{model}}.log",
        conda:
            "../environment.yml"
        resources:
            gpu=lambda wildcards: gpus(PROJECT.cards[wildcards.model]),
        params:
            selection=JSON,
        shell:
            "python scripts/infer_chained.py --selection {params.selection:q} --model {wildcards.model} |& tee {log} >&2"


# One job a judge or scorer, over all models and benchmarks that it is asked about.
for judge, about in GRAPH.judges().items():

    rule:
        name:
            f"judge_{judge}"
        input:
            needs_of("judge", judge=judge),
        output:
            update([PATHS.hop_snapshot(*names) for names in about]),
        log:
            f"{PATHS.logs}/infer/judge_{judge}.log",
        conda:
            "../environment.yml"
        resources:
            gpu=gpus(PROJECT.judges[judge]) if judge in PROJECT.judges else 0,
        params:
            selection=JSON,
            judge=judge,
        shell:
            "python scripts/judge.py --selection {params.selection:q} --judge {params.judge} |& tee {log} >&2"
