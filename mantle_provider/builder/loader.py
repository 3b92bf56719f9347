"""Dags from a folder of workflows, for a Python file in the dags folder.

For places where no Dag bundle can be configured. One Python file stands for many workflows, and
an import error of it would mark all their Dags stale; so a broken workflow becomes a placeholder
Dag that carries its diagnostics.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from airflow.sdk import DAG
from airflow.sdk.definitions.context import get_parsing_context

from mantle_provider.builder.build import build_dag
from mantle_provider.builder.folder import (
    check_options,
    may_be_called,
    read_workflow_file,
    refuse_duplicates,
    shared_folder,
)
from mantle_provider.builder.operator_checks import check_operators
from mantle_provider.builder.paths import in_order, workflow_path_texts, workflow_paths
from mantle_provider.diagnostics import render_text
from mantle_provider.operators.invalid import InvalidWorkflowOperator
from mantle_provider.plan.planner import plan_workflow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mantle_provider.builder.folder import WorkflowFile
    from mantle_provider.check import CheckOptions

log = logging.getLogger(__name__)

_PLACEHOLDER = "broken-workflow."
_MAX_LENGTH = 200
"""Of what says in an id which file it is; Airflow takes ids of 250 characters."""
_NOT_IN_DAG_ID = re.compile(r"[^A-Za-z0-9_.-]+")


def load_airflow_dags(folder: str | os.PathLike[str]) -> dict[str, DAG]:
    """Return the Dags of all workflows below a folder, by Dag id.

    Made for ``globals().update(load_airflow_dags(...))`` in a file of the dags folder. In a task
    process only the Dag that is asked for is built. The folder is put on ``sys.path``, as the
    bundle does, so that workflows can name Python code beside them.

    :param folder: YAML files without ``steps``, ``hooks`` and ``triggers`` are left alone, as
        are those that ``.airflowignore`` names.
    :raises NotADirectoryError: when there is no such folder.
    """
    root = Path(folder)
    if not root.is_dir():
        raise NotADirectoryError(f'"{root}" is no folder of workflows')
    if str(root) not in sys.path:
        sys.path.append(str(root))
    asked = get_parsing_context().dag_id
    options = check_options()
    if asked is None:
        return _load(workflow_paths(root), root, options)
    found = _load(_candidates(root, asked, options), root, options, asked)
    # The name may be written as no other is, or be in doubt between two files.
    return found if asked in found else _load(workflow_paths(root), root, options, asked)


def placeholder_id(name: str) -> str:
    """Return the id of the Dag that stands for a broken file, another one for each file.

    :param name: path of the file below the folder.
    """
    plain = name.replace("/", "--")
    text = _NOT_IN_DAG_ID.sub("-", plain)
    if text != plain or len(text) > _MAX_LENGTH:
        digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
        text = f"{text[-_MAX_LENGTH:]}-{digest}"
    return f"{_PLACEHOLDER}{text}"


def _load(
    paths: Iterable[Path], root: Path, options: CheckOptions, asked: str | None = None
) -> dict[str, DAG]:
    """Return the Dags of some files by their ids, of a task process only the one it asks for."""
    shared = shared_folder(root, options)
    read = (read_workflow_file(path, root, options, shared) for path in paths)
    dags = {}
    for file in refuse_duplicates(file for file in read if file is not None):
        if asked not in (None, placeholder_id(file.name), file.workflow and file.workflow.name):
            continue
        dag = _dag(file, is_task_process=asked is not None)
        dags[dag.dag_id] = dag
    return dags


def _dag(file: WorkflowFile, *, is_task_process: bool) -> DAG:
    if file.workflow is None:
        return _placeholder(file.name, render_text(file.report))
    # A task process builds what the Dag processor has already looked at.
    found = [] if is_task_process else check_operators(file.workflow)
    report = file.report.with_diagnostics(found)
    if report.errors:
        return _placeholder(file.name, render_text(report))
    return build_dag(plan_workflow(file.workflow))


def _placeholder(name: str, diagnostics: str) -> DAG:
    log.error("%s", diagnostics.rstrip())
    dag = DAG(
        dag_id=placeholder_id(name),
        description=f"{name} is not valid",
        doc_md=f"This workflow file is not valid:\n\n```text\n{diagnostics}```",
        schedule=None,
        tags=["broken-workflow"],
    )
    InvalidWorkflowOperator(task_id="invalid_workflow", diagnostics=diagnostics, retries=0, dag=dag)
    return dag


def _candidates(root: Path, dag_id: str, options: CheckOptions) -> list[Path]:
    """Return the files that can be the one of a Dag, told without reading them as YAML."""
    paths = workflow_path_texts(root)
    if dag_id.startswith(_PLACEHOLDER):
        return [
            path
            for path in in_order(paths)
            if placeholder_id(path.relative_to(root).as_posix()) == dag_id
        ]
    limit = options.max_file_bytes
    return in_order(path for path in paths if may_be_called(dag_id, path, limit))
