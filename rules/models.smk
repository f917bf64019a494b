# Adapters, trained when a selected card names them.
# What lies in <adapter>.work/ is the state of a training and no declared output; heldout.csv is none either: subset= may
# name it, and what selects items would hang on what is trained on them.
rule finetune:
    input:
        needs("finetune"),
    output:
        manifest=update(adapter("{adapter}")),
    log:
        "logs/finetune/{adapter}.log",
    benchmark:
        "logs/finetune/{adapter}.tsv"
    threads: lambda wildcards: threads(read_card(read_recipe(wildcards.adapter).base))
    resources:
        **takes(
            lambda wildcards: read_card(read_recipe(wildcards.adapter).base),
            runtime=lambda wildcards: read_recipe(wildcards.adapter),
        ),
    message:
        "adapter {wildcards.adapter}"
    shell:
        "python scripts/stage.py finetune --adapter {wildcards.adapter} --threads {threads} &> {log}"
