# Answers: one job for a model, a judge or a scorer, over all benchmarks, so that an engine starts once. With shards, one job for
# each asks before it. Which indexes a job writes depends on the selection, so Snakemake knows them by one file, written last.
rule respond:
    input:
        needs("respond"),
    output:
        update(PATHS.responded("{respondent}", "{shard}")),
    log:
        f"{PATHS.logs}/respond/{{respondent}}/{{shard}}.log",
    benchmark:
        f"{PATHS.logs}/respond/{{respondent}}/{{shard}}.tsv"
    threads: lambda wildcards: threads(asked(wildcards))
    resources:
        **takes(asked),
    params:
        part=lambda wildcards: (
            "" if wildcards.shard == ALL else f", shard {wildcards.shard}"
        ),
    message:
        "answers of {wildcards.respondent}{params.part}"
    shell:
        "python scripts/stage.py respond --respondent {wildcards.respondent} --shard {wildcards.shard}"
        " --threads {threads} &> {log}"
