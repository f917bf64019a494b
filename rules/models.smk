# Small real models that no hub is needed for (punchline.small_models), built when a selected card names their folder.
rule small_model:
    input:
        code=code_of("scripts/small_model.py"),
    output:
        manifest="data/models/{small_model}/punchline.json",
    log:
        "logs/models/{small_model}.log",
    wildcard_constraints:
        small_model="|".join(map(re.escape, small_models.BUILDERS)),
    conda:
        "../environment.yml"
    shell:
        "python scripts/small_model.py {wildcards.small_model} |& tee {log} >&2"
