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
        model=lambda wildcards: model_files(CARDS[wildcards.model]),
    output:
        snapshots=expand(
            "data/responses/{benchmark}/{{model}}.parquet",
            benchmark=SELECTION.benchmarks,
        ),
    log:
        "logs/infer/{model}.log",
    conda:
        "../environment.yml"
    resources:
        gpu=lambda wildcards: gpus(CARDS[wildcards.model]),
    params:
        card=lambda wildcards: as_json(CARDS[wildcards.model].asked()),
        seed=SELECTION.seed,
        benchmarks=SELECTION.benchmarks,
    shell:
        "python scripts/infer.py --card {params.card:q} --seed {params.seed}"
        " --benchmarks {params.benchmarks} |& tee {log} >&2"


# A judge's verdicts are answers one hop later: what it is asked hangs on a model's answers.
rule ask_judge:
    input:
        code=benchmark_code("scripts/ask_judge.py"),
        all_items="data/items/{benchmark}/items.jsonl",
        gold="data/items/{benchmark}/gold.jsonl",
        requests="data/requests/{benchmark}.parquet",
        snapshot="data/responses/{benchmark}/{model}.parquet",
    output:
        requests="data/requests/{benchmark}/judge/{model}.parquet",
    log:
        "logs/ask/{benchmark}_judge/{model}.log",
    conda:
        "../environment.yml"
    shell:
        "python scripts/ask_judge.py --benchmark {wildcards.benchmark} --items {input.all_items} --gold {input.gold}"
        " --requests {input.requests} --snapshot {input.snapshot} --out {output.requests} |& tee {log} >&2"


# One job a judge, over all models and benchmarks that it judges.
for judge, pairs in JUDGED_BY.items():

    rule:
        name:
            f"judge_{judge}"
        input:
            code=code_of("scripts/judge.py", *judge_modules(judge)),
            requests=[
                f"data/requests/{benchmark}/judge/{model}.parquet"
                for benchmark, model in pairs
            ],
            files=[
                path for _, model in pairs for path in files_of_engine(ENGINES[model])
            ],
            model=[] if judge == RELEASED else model_files(JUDGE),
        output:
            snapshots=[
                f"data/responses/{benchmark}/judge/{model}.parquet"
                for benchmark, model in pairs
            ],
        log:
            f"logs/infer/judge_{judge}.log",
        conda:
            "../environment.yml"
        resources:
            gpu=0 if judge == RELEASED else gpus(JUDGE),
        params:
            judge=judge,
            cards=as_json(judge_cards(judge)),
            seed=SELECTION.seed,
            pairs=[f"{benchmark}:{model}" for benchmark, model in pairs],
        shell:
            "python scripts/judge.py --judge {params.judge} --cards {params.cards:q} --seed {params.seed}"
            " --pairs {params.pairs} |& tee {log} >&2"
