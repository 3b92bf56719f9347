"""Which files of a folder are workflows, and what each of them says or what is wrong with it."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mantle_provider import settings
from mantle_provider.builder.build import has_foreign_operators
from mantle_provider.builder.operator_checks import merge_for_check
from mantle_provider.builder.paths import in_order, parts_of, workflow_path_texts
from mantle_provider.check import CheckOptions, check_text
from mantle_provider.diagnostics import Diagnostic, Report, render_text
from mantle_provider.folder import WorkflowFolder
from mantle_provider.rules.duplicate_workflow import WorkflowNames, duplicate_name
from mantle_provider.source.composer import INCLUDE_TAG
from mantle_provider.source.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mantle_provider.builder.operator_checks import MergedWorkflow
    from mantle_provider.check import CheckResult
    from mantle_provider.plan import DagPlan
    from mantle_provider.workflow.model import Workflow

log = logging.getLogger(__name__)

_NAME_LINE = re.compile(rb"""(?m)^name:[ \t]*(["']?)(?P<name>[a-z][a-z0-9-]*)\1[ \t\r]*$""")
"""How the name of a workflow stands in almost every file."""


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """One file of a folder that is ours to answer for.

    :param name: path below the folder, with forward slashes.
    :param text: the file's text, empty when it is not UTF-8, and for a broken file among those of
        the environments, which may hold secrets.
    :param workflow: ``None`` when the report has an error.
    :param sources: the other files that it depends on, see :class:`CheckResult`.
    """

    name: str
    text: str
    report: Report
    workflow: Workflow | None
    sources: tuple[str, ...] = ()


def check_options() -> CheckOptions:
    """Return the limits that this Airflow sets for workflow files."""
    return CheckOptions(
        allowed_actions=settings.allowed_actions(),
        max_file_bytes=settings.max_file_bytes(),
        environment=settings.environment(),
    )


def shared_folder(folder: Path, options: CheckOptions) -> WorkflowFolder:
    """Return the reader of what the workflows of a folder share, for one pass over it."""
    return WorkflowFolder(folder, max_file_bytes=options.max_file_bytes)


def read_workflow_file(
    path: Path, folder: Path, options: CheckOptions, shared: WorkflowFolder | None = None
) -> WorkflowFile | None:
    """Check one file; ``None`` when it is no workflow, or is gone by now.

    A file that cannot be read is reported as one that is wrong.

    :param shared: the same folder, with what was read of it for several workflows.
    """
    shared = shared or shared_folder(folder, options)
    name = path.relative_to(folder).as_posix()
    try:
        source = read_file(path, options.max_file_bytes)
    except FileNotFoundError:
        return None
    except OSError as error:
        problem = Diagnostic("unreadable-file", f"cannot read the file: {error.strerror}")
        return WorkflowFile(name, "", Report(name, (problem,)), None)
    result: CheckResult = check_text(source, name, options, shared)
    if result.is_foreign:
        return None
    document = result.report.document
    is_shown = result.workflow is not None or document is None or not document.is_private
    try:
        text = source.decode("utf-8-sig") if is_shown else ""
    except UnicodeDecodeError:
        text = ""
    if result.report.warnings:
        log.warning("%s", render_text(result.report).rstrip())
    return WorkflowFile(name, text, result.report, result.workflow, result.sources)


def merged_workflow(file: WorkflowFile, plan: DagPlan) -> MergedWorkflow | None:
    """Return what a stub needs to check operators of the user's choice without the other files.

    ``None`` where there are none, or where the file's own text says all.
    """
    document = file.report.document
    if file.workflow is None or document is None or not has_foreign_operators(plan):
        return None
    alone = check_text(file.text, file.name).workflow
    if alone == replace(file.workflow, env={}):
        return None
    return merge_for_check(document, file.workflow)


def refuse_duplicates(files: Iterator[WorkflowFile]) -> Iterator[WorkflowFile]:
    """Turn each workflow whose name an earlier file has taken into an error.

    Airflow would let the file that it reads last win, without a word.
    """
    names = WorkflowNames()
    for file in files:
        problem = names.take(file.workflow.name, file.report) if file.workflow else None
        yield file if problem is None else _refused(file, problem)


def _refused(file: WorkflowFile, problem: Diagnostic) -> WorkflowFile:
    return replace(file, report=file.report.with_diagnostics([problem]), workflow=None)


def refuse_duplicate(file: WorkflowFile, first: str) -> WorkflowFile:
    """Return the file with the error that ``first`` has taken its workflow's name."""
    if file.workflow is None:
        return file
    return _refused(file, duplicate_name(file.workflow.name, first))


def earlier_of_name(file: WorkflowFile, folder: Path, options: CheckOptions) -> str | None:
    """Return the name of the first file before this one whose workflow is called the same.

    For who looks at one file at a time. Of the other files, which are read, only those are checked
    that may have the name.
    """
    if file.workflow is None:
        return None
    name, limit = file.workflow.name, options.max_file_bytes
    shared = shared_folder(folder, options)
    own = parts_of(str(folder / file.name))
    earlier = (path for path in workflow_path_texts(folder) if parts_of(path) < own)
    for path in in_order(path for path in earlier if may_be_called(name, path, limit)):
        other = read_workflow_file(path, folder, options, shared)
        if other and other.workflow and other.workflow.name == name:
            return other.name
    return None


def may_be_called(name: str, path: str, max_bytes: int) -> bool:
    """Whether a file can be read and may hold the workflow of a name, told from its lines."""
    try:
        content = read_file(path, max_bytes)
    except OSError:
        return False
    if found := _NAME_LINE.search(content):
        return found["name"] == name.encode()
    return name.encode() in content or INCLUDE_TAG.encode() in content
