# Published bytes: drawn by the project (corpus=demo), else fetched from the URL manifests. One rule a benchmark, because
# each has files of its own.
if SELECTION.corpus.drawn:

    for benchmark in SELECTION.benchmarks:

        rule:
            name:
                f"draw_demo_{benchmark}"
            input:
                code=code_of(
                    "scripts/draw_demo.py", benchmarks.drawn(benchmark).__name__
                ),
            output:
                annotations=raw(benchmark, *annotation_names(benchmark)),
            log:
                f"logs/fetch/draw_demo_{benchmark}.log",
            localrule: True
            conda:
                "../environment.yml"
            params:
                benchmark=benchmark,
                folder=raw_folder,
            shell:
                "python scripts/draw_demo.py --benchmark {params.benchmark} --out {params.folder} |& tee {log} >&2"

    checkpoint drawn_images:
        input:
            code=code_of("scripts/drawn_images.py"),
            drawn=item_files,
        output:
            ledger=f"{SELECTION.raw('{benchmark}')}/ledger.jsonl",
        log:
            "logs/fetch/drawn_images_{benchmark}.log",
        localrule: True
        conda:
            "../environment.yml"
        shell:
            "python scripts/drawn_images.py --ledger {output.ledger} |& tee {log} >&2"

else:

    # update(): what is there already is neither deleted before the job nor lost when it fails.
    for benchmark in SELECTION.benchmarks:

        rule:
            name:
                f"fetch_annotations_{benchmark}"
            input:
                code=code_of("scripts/fetch.py"),
                manifest=f"data/manifests/{benchmark}/annotations.csv",
            output:
                annotations=update(raw(benchmark, *annotation_names(benchmark))),
            log:
                f"logs/fetch/annotations_{benchmark}.log",
            localrule: True
            conda:
                "../environment.yml"
            params:
                folder=raw_folder,
            shell:
                "python scripts/fetch.py annotations --manifest {input.manifest} --out {params.folder}"
                ' --mirror "$PUNCHLINE_FETCH_MIRROR" |& tee {log} >&2'

    # The journal of the fetch (fetch.jsonl) and the images are no declared outputs: Snakemake would delete them.
    checkpoint fetch_images:
        input:
            code=code_of("scripts/fetch.py"),
            selected=f"{SELECTION.raw('{benchmark}')}/selected.csv",
            pinned="data/manifests/{benchmark}/images_pinned.csv",
        output:
            ledger=f"{SELECTION.raw('{benchmark}')}/ledger.jsonl",
        log:
            "logs/fetch/images_{benchmark}.log",
        localrule: True
        conda:
            "../environment.yml"
        params:
            folder=raw_folder,
        shell:
            "python scripts/fetch.py images --comic-ids {input.selected} --pages {input.selected} --sources"
            " --manifest {input.pinned} --lock data/manifests/{wildcards.benchmark}/images.lock.csv"
            " --out {params.folder}/images --ledger {params.folder}/fetch.jsonl --entries {output.ledger}"
            ' --mirror "$PUNCHLINE_FETCH_MIRROR" |& tee {log} >&2'


rule select_items:
    input:
        code=benchmark_code("scripts/select_items.py"),
        files=item_files,
        subset=[SELECTION.subset] if SELECTION.subset else [],
    output:
        selected=f"{SELECTION.raw('{benchmark}')}/selected.csv",
    log:
        "logs/fetch/select_{benchmark}.log",
    conda:
        "../environment.yml"
    params:
        selection=lambda wildcards: as_json(
            {
                "sources": (SELECTION.corpus.sources or {}).get(wildcards.benchmark),
                "subset": SELECTION.subset_sha256,
                "limit": SELECTION.limit,
            }
        ),
    shell:
        "python scripts/select_items.py --benchmark {wildcards.benchmark} --selection {params.selection:q}"
        " --files {input.files} --subset {input.subset:q} --out {output.selected} |& tee {log} >&2"


rule availability:
    input:
        code=code_of("scripts/availability.py"),
        ledger=f"{SELECTION.raw('{benchmark}')}/ledger.jsonl",
    output:
        table="results/{benchmark}/availability.csv",
    log:
        "logs/fetch/availability_{benchmark}.log",
    conda:
        "../environment.yml"
    shell:
        "python scripts/availability.py --ledger {input.ledger} --out {output.table} |& tee {log} >&2"
