# The selection, and what rules ask of it: punchline.project says what rests on what (needs.py) and what is not current.
from functools import partial

from punchline.project.hops import CHAINED, DATA, HOPS
from punchline.paths import adapter, shard
from punchline.project.recipes import read_recipe
from punchline.project.resources import MANY_THREADS, memory_mb, threads
from punchline.config.cards import read_card
from punchline.project.snakefile import Snakefile, wildcard

SNAKEFILE = Snakefile(workflow, config)
SELECTION, PROJECT, GRAPH = SNAKEFILE.selection, SNAKEFILE.project, SNAKEFILE.graph
PATHS = PROJECT.paths
needs, all_of, takes = SNAKEFILE.needs, SNAKEFILE.all_of, SNAKEFILE.takes


def asked(wildcards, judge=None):
    """The card of who a job asks, a model or a judge; None where its shards have asked, or nobody is."""
    card = PROJECT.judges.get(judge) if judge else PROJECT.cards[wildcards.model]
    return card if "shard" in wildcards.keys() or not PROJECT.shards(card) else None


wildcard_constraints:
    benchmark=wildcard(SELECTION.benchmarks),
    model=wildcard([*SELECTION.models, DATA]),
    hop=wildcard(HOPS),
    shard="[0-9]+",
    table=wildcard(GRAPH.tables),
