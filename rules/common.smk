# The selection, and what rules ask of it: punchline.project says what rests on what (needs.py) and what is not current.
from punchline.paths import adapter
from punchline.project.hops import ALL
from punchline.project.recipes import read_recipe
from punchline.project.resources import MANY_THREADS, memory_mb, threads
from punchline.config.cards import read_card
from punchline.project.snakefile import Snakefile, wildcard

SNAKEFILE = Snakefile(workflow, config)
SELECTION, PROJECT, GRAPH = SNAKEFILE.selection, SNAKEFILE.project, SNAKEFILE.graph
PATHS = PROJECT.paths
needs, all_of, takes = SNAKEFILE.needs, SNAKEFILE.all_of, SNAKEFILE.takes


def asked(wildcards):
    """The card of who a job asks; None where the jobs of its shards have asked."""
    whole = wildcards.shard == ALL and PROJECT.shards(wildcards.respondent)
    return None if whole else PROJECT.card_of(wildcards.respondent)


wildcard_constraints:
    benchmark=wildcard(SELECTION.benchmarks),
    model=wildcard(SELECTION.models),
    respondent=wildcard(PROJECT.respondents),
    shard=f"{ALL}|[0-9]+-of-[0-9]+",
    table=wildcard(GRAPH.tables),
