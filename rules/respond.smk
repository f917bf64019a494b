# Answers: one job for a model, a judge or a scorer, over all benchmarks, so that an engine starts once. With shards, one job
# for each asks before it. Which indexes a job writes depends on the selection, so Snakemake knows them by one file.
rule respond:
    input:
        inputs("respond"),
    output:
        update(PATHS.responded("{respondent}", "{shard}")),
    log:
        f"{PATHS.logs}/respond/{{respondent}}/{{shard}}.log",
    threads: lambda wildcards: threads(asked_card(wildcards))
    resources:
        **resources_of(asked_card),
    params:
        **params_of("respond"),
        part=lambda wildcards: (
            "" if wildcards.shard == ALL else f", shard {wildcards.shard}"
        ),
    message:
        "answers of {wildcards.respondent}{params.part}: {params.why}"
    shell:
        "{params.run}"
