# Small real models that no hub is needed for, and adapters, built when a selected card names them.
rule small_model:
    input:
        needs("small_model"),
    output:
        manifest=update(small_model("{name}")),
    log:
        "logs/models/{name}.log",
    wildcard_constraints:
        name="|".join(map(re.escape, small_models.BUILDERS)),
    conda:
        "../environment.yml"
    params:
        selection=JSON,
    shell:
        "python scripts/small_model.py {wildcards.name} --selection {params.selection:q} |& tee {log} >&2"


# What lies in <adapter>.work/ is the state of a training and no declared output; heldout.csv is none either: subset= may
# name it, and what selects items would hang on what is trained on them.
rule finetune:
    input:
        needs("finetune"),
    output:
        manifest=update(adapter("{adapter}")),
    log:
        "logs/finetune/{adapter}.log",
    conda:
        "../environment.yml"
    resources:
        gpu=lambda wildcards: gpus(read_card(read_recipe(wildcards.adapter).base)),
    params:
        selection=JSON,
    shell:
        "python scripts/finetune.py --selection {params.selection:q} --adapter {wildcards.adapter} |& tee {log} >&2"
