# One job a benchmark, over all of its tables. The paths of tables do not name the benchmark, so each job is a rule.
for name in PROJECT.selection.benchmarks:
    made = [path for step in PROJECT.built_by("tables", name) for path in step.outputs]

    rule:
        name:
            f"tables_{name}"
        input:
            inputs("tables", name),
        output:
            [
                report(update(path), **SNAKEFILE.page(path))
                for path in made
                if path.endswith(".csv")
            ],
            [update(path) for path in made if not path.endswith(".csv")],
        log:
            f"{PATHS.logs}/tables/{name}.log",
        localrule: True
        params:
            **params_of("tables", name),
        message:
            f"tables of {name}: {{params.why}}"
        shell:
            "{params.run}"


# Costs, main values, differences between the two scoring rules, available images.
rule overview:
    input:
        inputs("overview"),
    output:
        [
            report(update(path), **SNAKEFILE.page(path))
            for made in PROJECT.built_by("overview")
            for path in made.outputs
            if path.endswith(".csv")
        ],
        update(PATHS.metrics),
    log:
        f"{PATHS.logs}/overview.log",
    params:
        **params_of("overview"),
    message:
        "overview: {params.why}"
    shell:
        "{params.run}"
