# One rule a table, named as it, made from what the benchmarks declare.
for benchmark, module in BENCHMARKS.items():
    for table in module.TABLES.values():

        rule:
            name:
                f"{benchmark}_{table.name}"
            input:
                code=code_of("scripts/make_table.py", f"punchline.benchmarks.{benchmark}", *ENGINE_MODULES),
                published=f"config/published/{benchmark}.csv",
                files=raw(benchmark, *table.files),
                chain=chain_files(benchmark) if table.rows is not None else [],
                grades=(
                    expand("results/{benchmark}/grades/{model}.parquet", benchmark=benchmark, model=SELECTION.models)
                    if table.rows is not None
                    else []
                ),
            output:
                csv=table.path,
                markdown=table.path.removesuffix("csv") + "md",
                latex=table.path.removesuffix("csv") + "tex",
                lineage=table.path.removesuffix("csv") + "lineage.json",
            params:
                benchmark=benchmark,
                table=table.name,
                selection=as_json(msgspec.to_builtins(SELECTION)),
            log:
                f"logs/tabulate/{benchmark}_{table.name}.log",
            conda:
                "../environment.yml"
            shell:
                "python scripts/make_table.py --benchmark {params.benchmark} --table {params.table}"
                " --selection {params.selection:q} |& tee {log} >&2"
