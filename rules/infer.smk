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


# What hangs on answers is asked one hop later: the model's own next questions, a judge's, a scorer's.
rule ask_chained:
    input:
        code=benchmark_code("scripts/ask_hop.py"),
        all_items="data/items/{benchmark}/items.jsonl",
        gold="data/items/{benchmark}/gold.jsonl",
        requests="data/requests/{benchmark}.parquet",
        snapshot="data/responses/{benchmark}/{model}.parquet",
    output:
        requests="data/requests/{benchmark}/chained/{model}.parquet",
    log:
        "logs/ask/{benchmark}_chained/{model}.log",
    conda:
        "../environment.yml"
    params:
        conditions=SELECTION.conditions,
    shell:
        "python scripts/ask_hop.py --hop chained --benchmark {wildcards.benchmark} --items {input.all_items}"
        " --gold {input.gold} --requests {input.requests} --snapshots {input.snapshot}"
        " --conditions {params.conditions} --out {output.requests} |& tee {log} >&2"


rule ask_judge:
    input:
        code=benchmark_code("scripts/ask_hop.py"),
        all_items="data/items/{benchmark}/items.jsonl",
        gold="data/items/{benchmark}/gold.jsonl",
        requests=own_requests,
        snapshots=own_snapshots,
    output:
        requests="data/requests/{benchmark}/{hop}/{model}.parquet",
    log:
        "logs/ask/{benchmark}_{hop}/{model}.log",
    wildcard_constraints:
        hop="|".join(name for name in HOPS if name != CHAINED),
    conda:
        "../environment.yml"
    params:
        conditions=SELECTION.conditions,
    shell:
        "python scripts/ask_hop.py --hop {wildcards.hop} --benchmark {wildcards.benchmark} --items {input.all_items}"
        " --gold {input.gold} --requests {input.requests} --snapshots {input.snapshots}"
        " --conditions {params.conditions} --out {output.requests} |& tee {log} >&2"


# One more job a model whose answers lead to further questions to itself.
for model, chained in CHAINED_OF.items():
    if chained:

        rule:
            name:
                f"infer_chained_{model}"
            input:
                code=code_of(
                    "scripts/infer.py", f"punchline.engines.{CARDS[model].engine}"
                ),
                all_items=expand(
                    "data/items/{benchmark}/items.jsonl", benchmark=chained
                ),
                requests=[requests_path(name, CHAINED, model) for name in chained],
                files=files_of_engine(ENGINES[model]),
                model=model_files(CARDS[model]),
            output:
                snapshots=[snapshot_path(name, CHAINED, model) for name in chained],
            log:
                f"logs/infer/chained_{model}.log",
            conda:
                "../environment.yml"
            resources:
                gpu=gpus(CARDS[model]),
            params:
                card=as_json(CARDS[model].asked()),
                seed=SELECTION.seed,
                benchmarks=chained,
            shell:
                "python scripts/infer.py --chained --card {params.card:q} --seed {params.seed}"
                " --benchmarks {params.benchmarks} |& tee {log} >&2"


# One job a judge or scorer, over all models and benchmarks that it is asked about.
for judge, about in ABOUT.items():

    rule:
        name:
            f"judge_{judge}"
        input:
            code=code_of("scripts/answer_hop.py", *judge_modules(judge)),
            requests=[requests_path(*names) for names in about],
            files=[
                path
                for _, _, model in about
                for path in files_of_engine(ENGINES[model])
            ],
            model=[] if judge == RELEASED else model_files(JUDGES[judge]),
        output:
            snapshots=[snapshot_path(*names) for names in about],
        log:
            f"logs/infer/judge_{judge}.log",
        conda:
            "../environment.yml"
        resources:
            gpu=0 if judge == RELEASED else gpus(JUDGES[judge]),
        params:
            judge=judge,
            cards=as_json(judge_cards(judge)),
            seed=SELECTION.seed,
            about=[":".join(names) for names in about],
        shell:
            "python scripts/answer_hop.py --who {params.judge} --cards {params.cards:q} --seed {params.seed}"
            " --about {params.about} |& tee {log} >&2"
