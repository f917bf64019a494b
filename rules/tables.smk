# One job a benchmark, over all of its tables. The paths of tables do not name the benchmark, so each job is a rule.
for name in PROJECT.selection.benchmarks:

    rule:
        name:
            f"tables_{name}"
        input:
            inputs("tables", name),
        output:
            outputs("tables", name),
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
        outputs("overview"),
    log:
        f"{PATHS.logs}/overview.log",
    localrule: True
    params:
        **params_of("overview"),
    message:
        "overview: {params.why}"
    shell:
        "{params.run}"
