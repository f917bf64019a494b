"""An RO-Crate (Workflow Run profile): the tables, all that they rest on, and what `punchline audit` needs besides.

https://www.researchobject.org/workflow-run-crate/profiles/workflow_run_crate/
"""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from punchline.artifacts.lineage import Lineage, lineage_path
from punchline.artifacts.project import Project
from punchline.config.runs import selection_text
from punchline.errors import PunchlineError
from punchline.export.made import lineages, made_at
from punchline.export.samples import shown
from punchline.files import sha256_file
from punchline.paths import DEFAULT_RUN, MANIFESTS
from punchline.workflow import digests
from punchline.workflow.lineage import File

PROFILES = {"process": "0.5", "workflow": "0.5"}
WORKFLOW = ("Snakefile", "config/run.yaml", "LICENSE")  # and what lies in:
FOLDERS = ("rules", "scripts", MANIFESTS)
LICENSED = "Pictures, questions and labels are under the licences of those who published them; all else Apache-2.0"


def _files(found: list[Lineage]) -> dict[str, File]:
    """All that the tables rest on, by path. Raises PunchlineError for a file that is not what a lineage names."""
    files: dict[str, File] = {}
    for file in (file for lineage in found for file in lineage.files):
        files[file.path] = file
        if not Path(file.path).is_file() or (file.content is None and digests.of_file(file.path) != file.sha256):
            raise PunchlineError(
                "it is not what a table was made of", file=file.path, hint="Make all anew: snakemake all_tables"
            )
    return files


def _check_rights(project: Project, pictures: str) -> None:
    """An audit needs every picture: a crate holds all or is none."""
    withheld = sum(
        one.withheld
        for benchmark in project.selection.benchmarks
        if project.illustrated(benchmark)
        for one in shown(project, benchmark, pictures).values()
    )
    if withheld:
        raise PunchlineError(
            f"the tables rest on pictures of {withheld:,} items that may not be passed on, and an audit needs them",
            hint="For yourself: --pictures all",
        )


def _beside(project: Project, found: list[Lineage]) -> Iterator[str]:
    """Files that the audit needs and no table depends on."""
    yield from (path for path in (*WORKFLOW, project.paths.selection) if Path(path).is_file())
    yield f"config/corpus/{project.selection.corpus.name}.yaml"
    raw = [Path(project.paths.raw(benchmark)).glob("*") for benchmark in project.selection.benchmarks]
    for path in chain(*raw, *(Path(folder).rglob("*") for folder in FOLDERS)):
        if path.is_file() and path.suffix != ".pyc":
            yield path.as_posix()
    yield from (_lineage_file(project, lineage) for lineage in found)


def _lineage_file(project: Project, lineage: Lineage) -> str:
    table = project.benchmark(lineage.benchmark).TABLES[lineage.table]
    return lineage_path(project.paths.table(table.file)).as_posix()


def _about(path: str, role: str) -> dict[str, Any]:
    kind = mimetypes.guess_type(path)[0] or ("text/plain" if path.endswith((".smk", ".tex")) else None)
    about = {"name": role, "sha256": sha256_file(path), "contentSize": str(Path(path).stat().st_size)}
    return about | ({"encodingFormat": kind} if kind else {})


def _actions(crate: ROCrate, workflow: Any, project: Project, found: list[Lineage], data: Mapping[str, Any]) -> None:
    """The runs: one a table."""
    agent = crate.add(ContextEntity(crate, "#punchline", {"@type": "Organization", "name": "whoever ran Punchline"}))
    for lineage in found:
        name = f"{lineage.benchmark} {lineage.table}"
        selection = {"@type": "PropertyValue", "name": "selection", "value": selection_text(lineage.selection)}
        chosen = crate.add(ContextEntity(crate, f"#selection-{lineage.root[:16]}", selection))
        done = crate.add_action(
            workflow,
            identifier=f"#{lineage.benchmark}-{lineage.table}",
            object=[chosen, *(data[file.path] for file in lineage.files if file.role != "table")],
            result=[
                *(data[file.path] for file in lineage.files if file.role == "table"),
                data[_lineage_file(project, lineage)],
            ],
            properties={
                "name": name,
                "description": f"Table {name}; root {lineage.root}",
                "endTime": str(lineage.noted["made_at"]),
                "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
            },
        )
        done["agent"] = agent
        crate.root_dataset.append_to("mentions", done)


def write(project: Project, folder: Path, pictures: str) -> list[str]:
    """The crate. `punchline --root CRATE audit TABLE` needs nothing else."""
    found = lineages(project)
    files = _files(found)
    _check_rights(project, pictures)
    crate = ROCrate(version="1.1")  # on which the profile stands
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
    crate.name = f"Punchline: {', '.join(project.selection.benchmarks)}"
    crate.description = f"Tables of an evaluation, and all that they rest on: {selection_text(project.selection)}"
    crate.license = LICENSED
    crate.datePublished = made_at(found)
    snakefile = {"name": "Punchline's workflow", "sha256": sha256_file(WORKFLOW[0])}
    workflow = crate.add_workflow(WORKFLOW[0], WORKFLOW[0], main=True, lang="snakemake", properties=snakefile)
    data: dict[str, Any] = {}
    roles = dict.fromkeys(_beside(project, found), "workflow") | {path: file.role for path, file in files.items()}
    for path, role in sorted(roles.items()):
        if path != WORKFLOW[0]:
            data[path] = crate.add_file(os.fspath(path), path, properties=_about(path, role))
    _actions(crate, workflow, project, found, data)
    for name, version in PROFILES.items():
        about = {"@type": "CreativeWork", "name": f"{name.title()} Run Crate", "version": version}
        profile = crate.add(ContextEntity(crate, f"https://w3id.org/ro/wfrun/{name}/{version}", about))
        crate.root_dataset.append_to("conformsTo", profile)
    crate.write(folder)
    run = "" if project.selection.run == DEFAULT_RUN else f" --run {project.selection.run}"
    return [f"To audit it, on any machine, go into it: punchline audit {found[0].benchmark}/{found[0].table}{run}"]
