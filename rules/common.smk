# What rules ask of the selection: punchline.artifacts says what depends on what, punchline.snakemake what may run.
from punchline.config.cards import read_card
from punchline.paths import adapter
from punchline.artifacts.passes import ALL
from punchline.config.recipes import read_recipe
from punchline.config.resources import MANY_THREADS, threads
from punchline.snakemake.rules import Snakefile, wildcard

SNAKEFILE = Snakefile(workflow, config)
PROJECT, PATHS = SNAKEFILE.project, SNAKEFILE.project.paths
inputs, all_of = SNAKEFILE.inputs, SNAKEFILE.all_of
params_of, resources_of = SNAKEFILE.params_of, SNAKEFILE.resources_of


def outputs(rule, *names):
    """The outputs of a job; CSVs are shown in Snakemake's report."""
    paths = [path for step in PROJECT.built_by(rule, *names) for path in step.outputs]
    csvs = [path for path in paths if path.endswith(".csv")]
    shown = {path: report(update(path), **SNAKEFILE.page(path)) for path in csvs}
    return [shown.get(path, update(path)) for path in paths]


def asked_card(wildcards):
    """The card of who a job asks; None where the jobs of its shards have asked."""
    whole = wildcards.shard == ALL and PROJECT.shards(wildcards.respondent)
    return None if whole else PROJECT.card_of(wildcards.respondent)


wildcard_constraints:
    benchmark=wildcard(PROJECT.selection.benchmarks),
    model=wildcard(PROJECT.selection.models),
    respondent=wildcard(PROJECT.respondents),
    shard=f"{ALL}|[0-9]+-of-[0-9]+",
    table=wildcard(PROJECT.by_path),
