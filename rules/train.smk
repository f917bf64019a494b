# Adapters, trained when a selected card names them. <adapter>.work/ is the state of a training and no output; heldout.csv
# is none either: subset= may name it, and the selection of items would depend on what is trained on them.
rule train:
    input:
        inputs("train"),
    output:
        manifest=update(adapter("{adapter}")),
    log:
        f"{PATHS.logs}/train/{{adapter}}.log",
    threads: lambda wildcards: threads(read_card(read_recipe(wildcards.adapter).base))
    resources:
        **resources_of(
            lambda wildcards: read_card(read_recipe(wildcards.adapter).base),
            runtime=lambda wildcards: read_recipe(wildcards.adapter),
        ),
    params:
        **params_of("train"),
    message:
        "adapter {wildcards.adapter}: {params.why}"
    shell:
        "{params.run}"
