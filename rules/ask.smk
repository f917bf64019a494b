rule ask:
    input:
        code=benchmark_code("scripts/ask.py"),
        items="data/items/{benchmark}/items.jsonl",
    output:
        requests="data/requests/{benchmark}.parquet",
    params:
        samples=SELECTION.samples,
    log:
        "logs/ask/{benchmark}.log",
    conda:
        "../environment.yml"
    shell:
        "python scripts/ask.py --benchmark {wildcards.benchmark} --items {input.items} --samples {params.samples}"
        " --out {output.requests} |& tee {log} >&2"
