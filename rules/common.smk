# The selection. What a job reads is asked of punchline.project.needs, the one place that says what rests on what.
import functools
import re
import sys

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import RerunTrigger

from punchline.core.errors import PunchlineError
from punchline.core.records import canonical
from punchline.project import small_models
from punchline.project.graph import Graph
from punchline.project.hops import CHAINED, HOPS
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN, adapter, small_model
from punchline.project.recipes import read_recipe
from punchline.project.resources import gpus
from punchline.project.runs import changes_in_place
from punchline.project.selection import read_card, read_selection, write_chosen
from punchline.stages.job import environment

try:
    SELECTION, MIRROR = read_selection(config)
    PROJECT = Project(SELECTION)
    GRAPH = Graph(PROJECT)
except PunchlineError as error:
    raise WorkflowError(str(error)) from None

PATHS = PROJECT.paths
JSON = canonical(SELECTION).decode()


def of_run(path):
    """A target as the command line names it, in the run that is selected: results/table8.csv lies below its folder."""
    return as_stored(GRAPH.in_run(path))


if SELECTION.run != DEFAULT_RUN:
    as_stored = workflow.modifier.path_modifier.apply_default_storage
    workflow.modifier.path_modifier.apply_default_storage = of_run


wildcard_constraints:
    benchmark="|".join(SELECTION.benchmarks),
    model="|".join(map(re.escape, SELECTION.models)),
    hop="|".join(HOPS),
    table="|".join(map(re.escape, GRAPH.tables)),


@functools.cache
def prepare_jobs():
    """Once, before the first job is looked at: what jobs inherit, and what somebody asks to make again."""
    if (
        workflow.remote_exec
    ):  # on a node: which job it is, and why, was said where Snakemake runs
        environment(MIRROR, set())
        return
    asked = workflow.dag_settings.forcerun
    GRAPH.again = {re.sub("^judge_.*", "judge", name) for name in asked}
    if workflow.dag_settings.forceall:
        GRAPH.again = {"all"}
    environment(MIRROR, GRAPH.again)
    # Of Snakemake's own reasons to run a job, a missing file stays. The others judge by times and by what this folder
    # happens to remember; inputs of a job that is current are ancient, so that the one that must be left here never fires.
    workflow.dag_settings.rerun_triggers = frozenset([RerunTrigger.MTIME])
    for line in changes_in_place(SELECTION):
        print(line, file=sys.stderr)


def needs_of(rule, **fixed):
    """Input function of a rule. Jobs whose artefacts are not current are marked as such: no time stamp decides."""

    def files(wildcards):
        prepare_jobs()
        try:
            found = GRAPH.files(rule, {**wildcards, **fixed})
        except PunchlineError as error:
            raise WorkflowError(str(error)) from None
        if found.stale and not workflow.remote_exec:
            workflow.dag.forcefiles.update(found.stale)
            return found.inputs
        return [ancient(path) for path in found.inputs]

    return files


def needs(rule):
    """Input function of a rule whose job is told by its wildcards."""
    return needs_of(rule)


def all_of(rule):
    """Outputs of all jobs of a rule in this selection."""
    return lambda wildcards: GRAPH.outputs(rule)
