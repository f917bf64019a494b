# One rule a table, named as it, made from what the benchmarks declare.
for benchmark, module in BENCHMARKS.items():
    for table in module.TABLES.values():

        rule:
            name:
                f"{benchmark}_{table.name}"
            input:
                code=code_of(
                    "scripts/make_table.py",
                    f"punchline.benchmarks.{benchmark}",
                    *ENGINE_MODULES,
                ),
                published=f"config/published/{benchmark}.csv",
                files=raw(benchmark, *table.files),
                own=own_files(benchmark, table),
                chain=chain_files(benchmark) if table.graded else [],
                grades=(
                    expand(
                        "results/{benchmark}/grades/{model}.parquet",
                        benchmark=benchmark,
                        model=SELECTION.models,
                    )
                    if table.graded
                    else []
                ),
            output:
                csv=table.path,
                markdown=table.path.removesuffix("csv") + "md",
                latex=table.path.removesuffix("csv") + "tex",
                lineage=table.path.removesuffix("csv") + "lineage.json",
            log:
                f"logs/tabulate/{benchmark}_{table.name}.log",
            localrule: True
            conda:
                "../environment.yml"
            params:
                benchmark=benchmark,
                table=table.name,
                selection=as_json(msgspec.to_builtins(SELECTION)),
            shell:
                "python scripts/make_table.py --benchmark {params.benchmark} --table {params.table}"
                " --selection {params.selection:q} |& tee {log} >&2"


rule discrepancies:
    input:
        code=code_of(
            "scripts/discrepancies.py",
            *[f"punchline.benchmarks.{name}" for name in SELECTION.benchmarks],
        ),
        all_items=expand(
            "data/items/{benchmark}/items.jsonl", benchmark=SELECTION.benchmarks
        ),
        gold=expand("data/items/{benchmark}/gold.jsonl", benchmark=SELECTION.benchmarks),
        grades=expand(
            "results/{benchmark}/grades/{model}.parquet",
            benchmark=SELECTION.benchmarks,
            model=SELECTION.models,
        ),
    output:
        table="results/discrepancies.csv",
    log:
        "logs/tabulate/discrepancies.log",
    conda:
        "../environment.yml"
    params:
        benchmarks=SELECTION.benchmarks,
        models=SELECTION.models,
    shell:
        "python scripts/discrepancies.py --benchmarks {params.benchmarks} --models {params.models} --out {output.table}"
        " |& tee {log} >&2"
