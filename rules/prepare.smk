# What models see (pictures, items), and gold apart from it: a corrected label re-asks nobody.
rule pictures:
    input:
        code=lambda wildcards: code_of(
            "scripts/pictures.py",
            f"punchline.benchmarks.{wildcards.benchmark}_pictures",
        ),
        files=item_files,
        selected=f"{SELECTION.raw('{benchmark}')}/selected.csv",
        ledger=f"{SELECTION.raw('{benchmark}')}/ledger.jsonl",
        images=published_images,
    output:
        index="data/images/{benchmark}/index.jsonl",
    log:
        "logs/prepare/pictures_{benchmark}.log",
    conda:
        "../environment.yml"
    threads: workflow.cores or 1
    params:
        pinned="" if SELECTION.corpus.drawn else "--pinned",
    shell:
        "python scripts/pictures.py --benchmark {wildcards.benchmark} --files {input.files} {params.pinned}"
        " --selected {input.selected} --ledger {input.ledger} --out {output.index} |& tee {log} >&2"


rule items:
    input:
        code=benchmark_code("scripts/items.py"),
        files=item_files,
        selected=f"{SELECTION.raw('{benchmark}')}/selected.csv",
        ledger=lambda wildcards: illustrated_files(
            wildcards, f"{SELECTION.raw('{benchmark}')}/ledger.jsonl"
        ),
        index=lambda wildcards: illustrated_files(
            wildcards, "data/images/{benchmark}/index.jsonl"
        ),
    output:
        made="data/items/{benchmark}/items.jsonl",
    log:
        "logs/prepare/items_{benchmark}.log",
    conda:
        "../environment.yml"
    shell:
        "python scripts/items.py --benchmark {wildcards.benchmark} --files {input.files} --selected {input.selected}"
        " --ledger '{input.ledger}' --index '{input.index}' --out {output.made} |& tee {log} >&2"


rule gold:
    input:
        code=benchmark_code("scripts/gold.py"),
        files=gold_files,
        selected=f"{SELECTION.raw('{benchmark}')}/selected.csv",
    output:
        gold="data/items/{benchmark}/gold.jsonl",
    log:
        said="logs/prepare/gold_{benchmark}.log",
        oddities="logs/prepare/oddities_{benchmark}.log",
    conda:
        "../environment.yml"
    shell:
        "python scripts/gold.py --benchmark {wildcards.benchmark} --files {input.files} --selected {input.selected}"
        " --out {output.gold} --oddities {log.oddities} |& tee {log.said} >&2"
