"""An RO-Crate (Workflow Run profile): the tables, all their dependencies, and what `punchline audit` needs besides.

https://www.researchobject.org/workflow-run-crate/profiles/workflow_run_crate/
"""

from __future__ import annotations

import mimetypes
from itertools import chain
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from punchline.artifacts.lineage import Lineage, lineage_path
from punchline.artifacts.project import Project
from punchline.config.runs import selection_text
from punchline.errors import PunchlineError
from punchline.export.samples import export_items, lineages, made_at
from punchline.files import sha256_file
from punchline.paths import DEFAULT_RUN, MANIFESTS
from punchline.workflow import digests

PROFILES = {"process": "0.5", "workflow": "0.5"}
WORKFLOW = ("Snakefile", "config/run.yaml", "LICENSE")  # and what lies in:
FOLDERS = ("rules", "scripts", MANIFESTS)
LICENSED = "Pictures, questions and labels are under the licences of those who published them; all else Apache-2.0"


def _roles(project: Project, tables: list[Lineage]) -> dict[str, str]:
    """{path: role} of all files that the tables depend on, and of those that an audit needs besides.

    Raises PunchlineError for a file that is not what a lineage names.
    """
    files = {file.path: file for lineage in tables for file in lineage.files}
    for path, file in files.items():
        if not Path(path).is_file() or (file.content is None and digests.of_file(path) != file.sha256):
            hint = "Make all anew: snakemake all_tables"
            raise PunchlineError("it is not what a table was made of", file=path, hint=hint)
    raw = [Path(project.paths.raw(benchmark)).glob("*") for benchmark in project.selection.benchmarks]
    there = chain(map(Path, (*WORKFLOW, project.paths.selection)), *raw, *(Path(name).rglob("*") for name in FOLDERS))
    besides = [path.as_posix() for path in there if path.is_file() and path.suffix != ".pyc"]
    besides.append(f"config/corpus/{project.selection.corpus.name}.yaml")
    besides += [_lineage_file(project, lineage) for lineage in tables]
    return dict.fromkeys(besides, "workflow") | {path: file.role for path, file in files.items()}


def _lineage_file(project: Project, lineage: Lineage) -> str:
    table = project.benchmark(lineage.benchmark).TABLES[lineage.table]
    return lineage_path(project.paths.table(table.file)).as_posix()


def _about(path: str, role: str) -> dict[str, Any]:
    kind = mimetypes.guess_type(path)[0] or ("text/plain" if path.endswith((".smk", ".tex")) else None)
    about = {"name": role, "sha256": sha256_file(path), "contentSize": str(Path(path).stat().st_size)}
    return about | ({"encodingFormat": kind} if kind else {})


def _add_run(crate: ROCrate, workflow: Any, lineage: Lineage, files: list[Any], table: list[Any]) -> None:
    """Add the run that made one table of some files."""
    name = f"{lineage.benchmark} {lineage.table}"
    selection = {"@type": "PropertyValue", "name": "selection", "value": selection_text(lineage.selection)}
    chosen = crate.add(ContextEntity(crate, f"#selection-{lineage.root[:16]}", selection))
    about = {
        "name": name,
        "description": f"Table {name}; root {lineage.root}",
        "endTime": str(lineage.noted["made_at"]),
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        "agent": {"@id": "#punchline"},
    }
    identifier = f"#{lineage.benchmark}-{lineage.table}"
    done = crate.add_action(workflow, identifier=identifier, object=[chosen, *files], result=table, properties=about)
    crate.root_dataset.append_to("mentions", done)


def write(project: Project, folder: Path, pictures: str) -> list[str]:
    """The crate. `punchline --root CRATE audit TABLE` needs nothing else."""
    tables = lineages(project, project.selection.benchmarks)
    roles = _roles(project, tables)
    illustrated = filter(project.illustrated, project.selection.benchmarks)
    withheld = sum(one.withheld for name in illustrated for one in export_items(project, name, pictures).values())
    if withheld:  # an audit needs every picture: a crate holds all or is none
        what = f"the tables depend on pictures of {withheld:,} items that may not be passed on, and an audit needs them"
        raise PunchlineError(what, hint="For yourself: --pictures all")
    crate = ROCrate(version="1.1")  # on which the profile stands
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
    crate.name = f"Punchline: {', '.join(project.selection.benchmarks)}"
    crate.description = f"Tables of an evaluation, and all their dependencies: {selection_text(project.selection)}"
    crate.license = LICENSED
    crate.datePublished = made_at(tables)
    snakefile = {"name": "Punchline's workflow", "sha256": sha256_file(WORKFLOW[0])}
    workflow = crate.add_workflow(WORKFLOW[0], WORKFLOW[0], main=True, lang="snakemake", properties=snakefile)
    described = sorted((path, role) for path, role in roles.items() if path != WORKFLOW[0])
    data = {path: crate.add_file(path, path, properties=_about(path, role)) for path, role in described}
    crate.add(ContextEntity(crate, "#punchline", {"@type": "Organization", "name": "whoever ran Punchline"}))
    for lineage in tables:
        files = [data[file.path] for file in lineage.files if file.role != "table"]
        table = [data[file.path] for file in lineage.files if file.role == "table"]
        _add_run(crate, workflow, lineage, files, [*table, data[_lineage_file(project, lineage)]])
    for name, version in PROFILES.items():
        about = {"@type": "CreativeWork", "name": f"{name.title()} Run Crate", "version": version}
        profile = crate.add(ContextEntity(crate, f"https://w3id.org/ro/wfrun/{name}/{version}", about))
        crate.root_dataset.append_to("conformsTo", profile)
    crate.write(folder)
    run = "" if project.selection.run == DEFAULT_RUN else f" --run {project.selection.run}"
    return [f"To audit it, on any machine, go into it: punchline audit {tables[0].benchmark}/{tables[0].table}{run}"]
