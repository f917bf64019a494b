# The selection, and what rules ask of it: punchline.project says what rests on what (needs.py) and what is not current.
from punchline.project.hops import CHAINED, DATA, HOPS
from punchline.project.paths import adapter, small_model
from punchline.project.recipes import read_recipe
from punchline.project.resources import MANY_THREADS, gpus, memory_mb, minutes, threads
from punchline.project.selection import read_card
from punchline.project.small_models import BUILDERS
from punchline.project.snakefile import Snakefile, wildcard

SNAKEFILE = Snakefile(workflow, config)
SELECTION, PROJECT, GRAPH = SNAKEFILE.selection, SNAKEFILE.project, SNAKEFILE.graph
PATHS = PROJECT.paths
needs, all_of = SNAKEFILE.needs, SNAKEFILE.all_of


def asked_whole(model):
    """A model's card where one job asks it; None where shards have."""
    return None if PROJECT.shards(model) else PROJECT.cards[model]


wildcard_constraints:
    benchmark=wildcard(SELECTION.benchmarks),
    model=wildcard([*SELECTION.models, DATA]),
    hop=wildcard(HOPS),
    shard="[0-9]+",
    table=wildcard(GRAPH.tables),
