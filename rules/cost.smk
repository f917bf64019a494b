# What a run will ask and what it has cost.
rule cost:
    input:
        code=code_of("scripts/cost.py"),
        snapshots=snapshot_files(),
    output:
        table="results/cost.csv",
    log:
        "logs/cost.log",
    conda:
        "../environment.yml"
    params:
        asked=as_json(asked()),
    shell:
        "python scripts/cost.py --asked {params.asked:q} --out {output.table} |& tee {log} >&2"


# `punchline plan` runs it anew each time: what is answered already is no file that Snakemake knows.
rule plan:
    input:
        code=code_of("scripts/plan.py", *ENGINE_MODULES),
        all_items=expand(
            "data/items/{benchmark}/items.jsonl", benchmark=SELECTION.benchmarks
        ),
        gold=expand("data/items/{benchmark}/gold.jsonl", benchmark=SELECTION.benchmarks),
        requests=expand(
            "data/requests/{benchmark}.parquet", benchmark=SELECTION.benchmarks
        ),
    output:
        table="results/plan.csv",
    log:
        "logs/plan.log",
    conda:
        "../environment.yml"
    params:
        benchmarks=SELECTION.benchmarks,
        cards=as_json({name: with_price(card) for name, card in CARDS.items()}),
        hops=as_json(
            {
                f"{benchmark}:{model}": {
                    hop: with_price(CARDS[model] if hop == CHAINED else JUDGES[who])
                    for hop, who in hops.items()
                    if who != RELEASED
                }
                for (benchmark, model), hops in HOPS_OF.items()
            }
        ),
        conditions=SELECTION.conditions,
        seed=SELECTION.seed,
    shell:
        "python scripts/plan.py --benchmarks {params.benchmarks} --cards {params.cards:q} --hops {params.hops:q}"
        " --conditions {params.conditions} --seed {params.seed} --out {output.table} |& tee {log} >&2"
