# One job a model, over all selected benchmarks. The journals (data/responses/<benchmark>/<model>.jsonl) are the state and
# no declared outputs: Snakemake would delete them. What is declared are the snapshots of the answers to current requests.
rule infer:
    input:
        code=lambda wildcards: code_of(
            "scripts/infer.py", f"punchline.engines.{CARDS[wildcards.model].engine}"
        ),
        all_items=expand(
            "data/items/{benchmark}/items.jsonl", benchmark=SELECTION.benchmarks
        ),
        requests=expand(
            "data/requests/{benchmark}.parquet", benchmark=SELECTION.benchmarks
        ),
        files=lambda wildcards: files_of_engine(ENGINES[wildcards.model]),
    output:
        snapshots=expand(
            "data/responses/{benchmark}/{{model}}.parquet",
            benchmark=SELECTION.benchmarks,
        ),
    log:
        "logs/infer/{model}.log",
    conda:
        "../environment.yml"
    params:
        card=lambda wildcards: as_json(
            CARDS[wildcards.model].options | {"engine": CARDS[wildcards.model].engine}
        ),
        seed=SELECTION.seed,
        benchmarks=SELECTION.benchmarks,
    shell:
        "python scripts/infer.py --model {wildcards.model} --card {params.card:q} --seed {params.seed}"
        " --benchmarks {params.benchmarks} |& tee {log} >&2"
