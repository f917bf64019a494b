# Adapters (punchline.finetune), trained when a selected card names one. What lies in data/adapters/<name>.work/ is the
# state and no declared output. Items and gold of an adapter that is there are ancient: another selection, heldout.csv for
# one, must train nothing anew; another corpus, recipe or base does. heldout.csv is no declared output either: subset= may name it, and what
# selects items would hang on what is trained on them.
rule finetune:
    input:
        code=lambda wildcards: code_of(
            "scripts/finetune.py",
            "punchline.engines.transformers",
            f"punchline.benchmarks.{RECIPES[wildcards.adapter].benchmark}_training",
        ),
        all_items=lambda wildcards: trained_on("items.jsonl", wildcards.adapter),
        gold=lambda wildcards: trained_on("gold.jsonl", wildcards.adapter),
        model=lambda wildcards: model_files(BASES[wildcards.adapter]),
    output:
        manifest="data/adapters/{adapter}/punchline.json",
    log:
        "logs/finetune/{adapter}.log",
    wildcard_constraints:
        # Of benchmarks that are selected: others have no items.
        adapter="|".join(
            re.escape(name)
            for name, recipe in RECIPES.items()
            if recipe.benchmark in SELECTION.benchmarks
        )
        or "(?!)",
    conda:
        "../environment.yml"
    resources:
        gpu=lambda wildcards: gpus(BASES[wildcards.adapter]),
    params:
        recipe=lambda wildcards: as_json(
            msgspec.to_builtins(RECIPES[wildcards.adapter])
        ),
        base=lambda wildcards: as_json(BASES[wildcards.adapter].asked()),
        corpus=SELECTION.corpus.name,
    shell:
        "python scripts/finetune.py --recipe {params.recipe:q} --base {params.base:q} --corpus {params.corpus}"
        " --items {input.all_items} --gold {input.gold} |& tee {log} >&2"
