"""Text or file to report: the only place that joins reading, decoding and the rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.report import Report
from mantle_provider.diagnostics.wording import describe, quote
from mantle_provider.folder import WorkflowFolder
from mantle_provider.sharing import SettingsFile, read_defaults, read_values, share
from mantle_provider.source.inclusion import Inclusion
from mantle_provider.source.reader import DEFAULT_MAX_FILE_BYTES, read_document
from mantle_provider.workflow.decode import decode_workflow
from mantle_provider.workflow.defaults import DEFAULTS_NAME, is_defaults, is_misnamed_defaults
from mantle_provider.workflow.environments import (
    is_values,
    is_values_of_environment,
    without_values,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from mantle_provider.source.reader import ReadResult
    from mantle_provider.workflow.model import Workflow

_OWN_KEYS = frozenset({"steps", "hooks", "triggers"})
_HARMLESS = frozenset({"duplicate-key", "leading-zero"})
"""Reader's codes that leave a right value in the tree, so that what follows is no consequence."""
_IDLE = frozenset({"ineffective-key", "ineffective-policy", "policy-without-dependency"})
_UNKNOWN_PARTS = frozenset({"include-cycle", "include-limit", "invalid-include", "missing-include"})


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a platform team may limit, and where workflows are to run.

    :param allowed_actions: shell patterns of actions, of which one must match.
    :param max_file_bytes: size of a file, and of all files that it includes.
    :param environment: the named environment whose values apply, ``None`` for none.
    """

    allowed_actions: tuple[str, ...] = ("*",)
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What checking one file gave.

    :param workflow: ``None`` when the report has an error.
    :param is_foreign: the text parses as YAML and has none of the keys ``steps``, ``hooks`` and
        ``triggers``: a loader of folders leaves such a file alone.
    :param is_settings: the file adds to workflows: it holds defaults or values.
    :param sources: the other files that were read or looked for, as paths below the folder with
        forward slashes: when one of them changes, comes or goes, the result may change.
    """

    report: Report
    workflow: Workflow | None = None
    is_foreign: bool = False
    is_settings: bool = False
    sources: tuple[str, ...] = ()


def check_file(
    path: str | os.PathLike[str],
    options: CheckOptions | None = None,
    folder: WorkflowFolder | None = None,
) -> CheckResult:
    """Check one workflow file.

    :param folder: the folder of workflows that it belongs to; by default the highest one that
        holds defaults or values, from the file's own up to the working directory.
    :raises OSError: the file cannot be read.
    """
    options = options or CheckOptions()
    if folder is None:
        folder = WorkflowFolder.of_file(path, options.max_file_bytes)
    with open(path, "rb") as file:  # noqa: PTH123  # pathlib costs a tenth of the start-up
        # One byte more than the limit tells a file that is too large from one that just fits.
        source = file.read(options.max_file_bytes + 1)
    return _check(source, str(path), options, folder, folder.path_of(path))


def check_text(
    text: str | bytes,
    name: str = "<text>",
    options: CheckOptions | None = None,
    folder: WorkflowFolder | None = None,
) -> CheckResult:
    """Check a workflow given as text.

    :param name: how diagnostics call it; with a folder the path below it.
    :param folder: where it is to be checked; without one it shares nothing with other files.
    """
    return _check(text, name, options or CheckOptions(), folder, name)


def _check(
    source: str | bytes,
    name: str,
    options: CheckOptions,
    folder: WorkflowFolder | None,
    path: str,
) -> CheckResult:
    if folder is not None and is_defaults(path):
        return _check_settings(name, read_defaults(folder, path))
    inclusion = None if folder is None else Inclusion(folder, path)
    read = read_document(source, name, max_file_bytes=options.max_file_bytes, inclusion=inclusion)
    if folder is not None and is_values(path):
        read = _without_values(read)
    sources = () if inclusion is None else inclusion.sources
    report = Report(name, document=read.document).with_diagnostics(read.diagnostics)
    is_foreign = _is_foreign(read)
    if folder is not None and is_foreign and is_values_of_environment(path):
        return _check_settings(name, read_values(folder, path))
    if folder is not None and is_misnamed_defaults(path, read.document.value):
        message = f"defaults are read from {quote(DEFAULTS_NAME)} alone; rename the file"
        misnamed = Diagnostic("misnamed-defaults", message)
        return CheckResult(report.with_diagnostics([misnamed]), sources=sources)
    if read.document.root is None:
        return CheckResult(report, None, is_foreign, sources=sources)
    if not isinstance(read.document.value, dict):
        value = describe(read.document.value)
        message = f"the top level must be a mapping with the workflow's keys, not {value}"
        wrong_root = Diagnostic("root-not-a-mapping", message)
        found = _without_consequences([wrong_root], read)
        return CheckResult(report.with_diagnostics(found), None, is_foreign, sources=sources)
    env: Mapping[str, str] = {}
    if folder is not None and not is_foreign:
        shared = share(read.document, folder, path, options.environment)
        report = replace(report, document=shared.document).with_diagnostics(shared.problems)
        env, sources = shared.env, (*sources, *shared.sources)
    report, workflow = _judge(report, read, options)
    if workflow is not None and env:
        workflow = replace(workflow, env=env)
    return CheckResult(report, workflow, is_foreign, sources=tuple(dict.fromkeys(sources)))


def _judge(
    report: Report, read: ReadResult, options: CheckOptions
) -> tuple[Report, Workflow | None]:
    """Decode the report's document and run the rules; return the whole report and the workflow."""
    document = report.document
    draft = decode_workflow(document.value if document else {})
    # Imported here: the rules bring the expression compiler, which a foreign file does not need.
    from mantle_provider.rules import run_rules  # noqa: PLC0415

    found = (*draft.diagnostics, *run_rules(draft, options.allowed_actions))
    own = [item for item in _without_consequences(found, read) if not _is_idle(item, report)]
    report = report.with_diagnostics(own)
    return report, draft.workflow if report.is_ok else None


def _is_idle(item: Diagnostic, report: Report) -> bool:
    """Whether a default has no effect on this workflow, which is no mistake: others have it."""
    if item.code not in _IDLE:
        return False
    document = report.place(item).document
    while document is not None and not is_defaults(document.name):
        # What defaults include is a default, too.
        document = document.use.document if document.use else None
    return document is not None


def _check_settings(name: str, found: SettingsFile | Diagnostic | None) -> CheckResult:
    """Return what was found in a file of defaults or values, which no loader takes for a workflow.

    :param found: anything else when the file is gone by now.
    """
    if not isinstance(found, SettingsFile):
        return CheckResult(Report(name), is_foreign=True, is_settings=True)
    report = Report(name, document=replace(found.document, name=name))
    report = report.with_diagnostics(found.problems)
    return CheckResult(report, is_foreign=True, is_settings=True, sources=found.sources)


def _without_values(read: ReadResult) -> ReadResult:
    """Return what was read of a values file, of which nothing is to be shown."""
    document = replace(read.document, is_private=True)
    return replace(read, document=document, diagnostics=tuple(without_values(read.diagnostics)))


def _is_foreign(read: ReadResult) -> bool:
    if any(item.code in _UNKNOWN_PARTS and not item.path for item in read.diagnostics):
        # What could not be included may hold any key.
        return False
    return read.root_values is not None and not any(
        isinstance(value, dict) and _OWN_KEYS & value.keys() for value in read.root_values
    )


def _without_consequences(found: Iterable[Diagnostic], read: ReadResult) -> list[Diagnostic]:
    """Leave out what was found at or below a value that could not be read."""
    if any(item.code == "include-limit" for item in read.diagnostics):
        # It is said once, whatever else was not included.
        return []
    unread = {item.path for item in read.diagnostics if item.code not in _HARMLESS}
    if not unread:
        return [*found]
    return [
        item
        for item in found
        if not any(item.path[:length] in unread for length in range(len(item.path) + 1))
    ]
