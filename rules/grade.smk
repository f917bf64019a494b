rule grade:
    input:
        code=benchmark_code("scripts/grade.py"),
        all_items="data/items/{benchmark}/items.jsonl",
        gold="data/items/{benchmark}/gold.jsonl",
        requests=own_requests,
        snapshots=own_snapshots,
        judged=judged_files,
    output:
        grades="results/{benchmark}/grades/{model}.parquet",
    log:
        "logs/grade/{benchmark}/{model}.log",
    conda:
        "../environment.yml"
    params:
        judge=judge_arguments,
    shell:
        "python scripts/grade.py --benchmark {wildcards.benchmark} --model {wildcards.model} --items {input.all_items}"
        " --gold {input.gold} --requests {input.requests} --snapshots {input.snapshots} --out {output.grades} {params.judge} |& tee {log} >&2"
