# Published bytes: drawn by the project (corpus=demo), else fetched from the URL manifests.
if SELECTION.corpus.drawn:

    checkpoint draw_demo:
        input:
            code=code_of("scripts/draw_demo.py"),
        output:
            annotations=expand(
                f"{SELECTION.raw('{{benchmark}}')}/{{name}}", name=annotation_names()
            ),
            ledger=f"{SELECTION.raw('{benchmark}')}/ledger.jsonl",
        log:
            "logs/fetch/draw_demo_{benchmark}.log",
        conda:
            "../environment.yml"
        shell:
            "python scripts/draw_demo.py --ledger {output.ledger} |& tee {log} >&2"

else:

    # update(): what is there already is neither deleted before the job nor lost when it fails.
    rule fetch_annotations:
        input:
            code=code_of("scripts/fetch.py"),
            manifest="data/manifests/{benchmark}/annotations.csv",
        output:
            annotations=update(
                expand(
                    f"{SELECTION.raw('{{benchmark}}')}/{{name}}",
                    name=annotation_names(),
                )
            ),
        log:
            "logs/fetch/annotations_{benchmark}.log",
        conda:
            "../environment.yml"
        shell:
            "python scripts/fetch.py annotations --manifest {input.manifest} --out $(dirname {output.annotations[0]})"
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
        conda:
            "../environment.yml"
        params:
            folder=f"{SELECTION.raw('{benchmark}')}",
        shell:
            "python scripts/fetch.py images --comic-ids {input.selected} --pages {params.folder}/comic_url.csv"
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
