# One job a model, over all selected benchmarks. The journals (paths.py) are the state and
# no declared outputs: Snakemake would delete them. What is declared are the snapshots of the answers to current requests.
rule infer:
    input:
        needs("infer"),
    output:
        update(
            expand(
                PATHS.snapshot("{benchmark}", "{{model}}"),
                benchmark=SELECTION.benchmarks,
            )
        ),
    log:
        f"{PATHS.logs}/infer/{{model}}.log",
    benchmark:
        f"{PATHS.logs}/infer/{{model}}.tsv"
    threads: lambda wildcards: threads(asked(wildcards))
    resources:
        **takes(asked),
    message:
        "answers of {wildcards.model}"
    shell:
        "python scripts/stage.py infer --model {wildcards.model} --threads {threads} &> {log}"


# Before it, for a card with shards: one job a part of the items, each with its own journal, server and GPU. Then infer
# asks nobody and takes over what they were answered.
rule infer_shard:
    input:
        needs("infer_shard"),
    output:
        update(
            expand(
                shard(PATHS.snapshot("{benchmark}", "{{model}}"), "{{shard}}"),
                benchmark=SELECTION.benchmarks,
            )
        ),
    log:
        f"{PATHS.logs}/infer/{{model}}.shard{{shard}}.log",
    benchmark:
        f"{PATHS.logs}/infer/{{model}}.shard{{shard}}.tsv"
    threads: lambda wildcards: threads(asked(wildcards))
    resources:
        **takes(asked),
    message:
        "answers of {wildcards.model}, part {wildcards.shard}"
    shell:
        "python scripts/stage.py infer_shard --model {wildcards.model} --shard {wildcards.shard}"
        " --threads {threads} &> {log}"


# One more job a model where conditions are selected that hang on its own answers.
if GRAPH.chained():

    rule infer_chained:
        input:
            needs("infer_chained"),
        output:
            update(
                expand(
                    PATHS.hop_snapshot("{benchmark}", CHAINED, "{{model}}"),
                    benchmark=GRAPH.chained(),
                )
            ),
        log:
            f"{PATHS.logs}/infer/chained_{{model}}.log",
        benchmark:
            f"{PATHS.logs}/infer/chained_{{model}}.tsv"
        threads: lambda wildcards: threads(asked(wildcards))
        resources:
            **takes(asked),
        message:
            "answers of {wildcards.model} to questions about its own answers"
        shell:
            "python scripts/stage.py infer_chained --model {wildcards.model} --threads {threads} &> {log}"

    rule infer_chained_shard:
        input:
            needs("infer_chained_shard"),
        output:
            update(
                expand(
                    shard(
                        PATHS.hop_snapshot("{benchmark}", CHAINED, "{{model}}"),
                        "{{shard}}",
                    ),
                    benchmark=GRAPH.chained(),
                )
            ),
        log:
            f"{PATHS.logs}/infer/chained_{{model}}.shard{{shard}}.log",
        benchmark:
            f"{PATHS.logs}/infer/chained_{{model}}.shard{{shard}}.tsv"
        threads: lambda wildcards: threads(asked(wildcards))
        resources:
            **takes(asked),
        message:
            "answers of {wildcards.model} to questions about its own answers, part {wildcards.shard}"
        shell:
            "python scripts/stage.py infer_chained_shard --model {wildcards.model} --shard {wildcards.shard}"
            " --threads {threads} &> {log}"


# One job a judge or scorer, over all models and benchmarks that it is asked about. No wildcard can name these jobs: which files
# one writes hangs on the selection, and no part of their paths is the judge. So each is a rule of its own.
for judge, about in PROJECT.judged.items():
    card = partial(asked, judge=judge)

    rule:
        name:
            f"judge_{judge}"
        input:
            needs("judge", judge=judge),
        output:
            update([PATHS.hop_snapshot(*names) for names in about]),
        log:
            f"{PATHS.logs}/infer/judge_{judge}.log",
        benchmark:
            f"{PATHS.logs}/infer/judge_{judge}.tsv"
        threads: lambda wildcards, card=card: threads(card(wildcards))
        resources:
            **takes(card),
        params:
            judge=judge,
        message:
            "verdicts of {params.judge}"
        shell:
            "python scripts/stage.py judge --judge {params.judge} --threads {threads} &> {log}"

    if PROJECT.shards(PROJECT.judges.get(judge)):

        rule:
            name:
                f"judge_shard_{judge}"
            input:
                needs("judge_shard", judge=judge),
            output:
                update(
                    [shard(PATHS.hop_snapshot(*names), "{shard}") for names in about]
                ),
            log:
                f"{PATHS.logs}/infer/judge_{judge}.shard{{shard}}.log",
            benchmark:
                f"{PATHS.logs}/infer/judge_{judge}.shard{{shard}}.tsv"
            threads: lambda wildcards, card=card: threads(card(wildcards))
            resources:
                **takes(card),
            params:
                judge=judge,
            message:
                "verdicts of {params.judge}, part {wildcards.shard}"
            shell:
                "python scripts/stage.py judge_shard --judge {params.judge} --shard {wildcards.shard}"
                " --threads {threads} &> {log}"
