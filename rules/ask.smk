rule ask:
    input:
        code=benchmark_code("scripts/ask.py"),
        all_items="data/items/{benchmark}/items.jsonl",
    output:
        requests="data/requests/{benchmark}.parquet",
    log:
        "logs/ask/{benchmark}.log",
    conda:
        "../environment.yml"
    params:
        samples=SELECTION.samples,
        conditions=lambda wildcards: [
            name
            for name in BENCHMARKS[wildcards.benchmark].CONDITIONS
            if name in SELECTION.conditions
        ],
    shell:
        "python scripts/ask.py --benchmark {wildcards.benchmark} --items {input.all_items} --samples {params.samples}"
        " --conditions {params.conditions} --out {output.requests} |& tee {log} >&2"
