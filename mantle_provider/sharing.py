"""What one workflow takes over from other files of its folder: defaults, values, environment.

Between reading and decoding: afterwards a workflow is one tree, whatever files it came from.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import describe, quote, suggest
from mantle_provider.source.document import SourceDocument, Use
from mantle_provider.source.files import is_yaml_called
from mantle_provider.source.inclusion import Inclusion, Unread
from mantle_provider.source.reader import read_document
from mantle_provider.workflow.defaults import DEFAULTS_NAME, apply_defaults, defaults_problems
from mantle_provider.workflow.environments import (
    VALUES_FOLDER,
    Values,
    apply_inputs,
    decode_values,
    invalid_name,
    is_environment_name,
    without_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mantle_provider.diagnostics.diagnostic import Related
    from mantle_provider.folder import WorkflowFolder

_DEFAULTS_USE = "its defaults apply to this workflow"
_VALUES_USE = "its values apply to this workflow"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file that is no workflow, but adds to workflows, as it was read and checked.

    :param problems: what is wrong with it; then nothing of it is applied.
    :param values: for a values file, what it says.
    :param sources: the file, and those that it includes.
    """

    document: SourceDocument
    problems: tuple[Diagnostic, ...]
    sources: tuple[str, ...]
    values: Values = field(default_factory=Values)


@dataclass(frozen=True, slots=True)
class Shared:
    """A workflow's document with what it takes over.

    :param problems: what is wrong in the other files.
    :param env: values of ``env.X`` that the environment gives. May hold secrets.
    :param sources: the other files that were read or looked for, below the folder.
    """

    document: SourceDocument
    problems: tuple[Diagnostic, ...]
    env: Mapping[str, str] = field(repr=False)
    sources: tuple[str, ...]


def share(
    document: SourceDocument, folder: WorkflowFolder, path: str, environment: str | None
) -> Shared:
    """Return a workflow's document with the defaults and the values that apply to it.

    :param document: one whose root is a mapping.
    :param path: the workflow's file below the folder.
    :param environment: name of the environment whose values apply.
    """
    problems: list[Diagnostic] = []
    sources: list[str] = []
    for name in _defaults_names(path):
        sources.append(name)
        defaults = read_defaults(folder, name)
        if defaults is None:
            continue
        sources += defaults.sources
        own = replace(defaults.document, use=Use(_DEFAULTS_USE, document))
        problems += _used(defaults.problems, defaults.document, own)
        if document.root is not None and not _has_errors(defaults.problems):
            document = replace(document, root=apply_defaults(document.root, own))
    env: Mapping[str, str] = {}
    if environment is not None and not is_environment_name(environment):
        problems.append(Diagnostic("missing-environment", invalid_name(environment)))
    elif environment is not None:
        name = f"{VALUES_FOLDER}/{environment}.yaml"
        sources.append(name)
        values = read_values(folder, name)
        if isinstance(values, Diagnostic):
            problems.append(values)
        else:
            own = replace(values.document, use=Use(_VALUES_USE, document))
            problems += _used(values.problems, values.document, own)
            if document.root is not None and not _has_errors(values.problems):
                document = replace(document, root=apply_inputs(document.root, values.values, own))
                env = values.values.env
    return Shared(document, tuple(problems), env, tuple(dict.fromkeys(sources)))


def read_defaults(folder: WorkflowFolder, path: str) -> SettingsFile | None:
    """Return a ``defaults.yaml`` as it was read and checked, ``None`` when there is none."""
    kept = folder.kept
    if path not in kept:
        kept[path] = _load_defaults(folder, path)
    found = kept[path]
    return found if isinstance(found, SettingsFile) else None


def _load_defaults(folder: WorkflowFolder, path: str) -> SettingsFile | None:
    source = folder.read(path)
    if isinstance(source, Unread):
        return None if source.reason == "missing" else _unread(folder, path, source)
    inclusion = Inclusion(folder, path)
    read = read_document(
        source,
        folder.shown(path),
        max_file_bytes=folder.max_file_bytes,
        role="settings",
        inclusion=inclusion,
    )
    document = read.document
    problems = _located(read.diagnostics, document)
    if isinstance(document.value, dict):
        problems += _located(defaults_problems(document.value), document)
    elif document.value is not None:
        message = f"defaults must be a mapping, not {describe(document.value)}"
        problems.append(Diagnostic("root-not-a-mapping", message, document=document))
    return SettingsFile(document, tuple(problems), (path, *inclusion.sources))


def read_values(folder: WorkflowFolder, path: str) -> SettingsFile | Diagnostic:
    """Return a values file as it was read and checked, the error when there is none."""
    kept = folder.kept
    if path not in kept:
        kept[path] = _load_values(folder, path)
    found = kept[path]
    assert isinstance(found, SettingsFile | Diagnostic)  # noqa: S101  # what was kept just now
    return found


def _load_values(folder: WorkflowFolder, path: str) -> SettingsFile | Diagnostic:
    source = folder.read(path)
    shown = quote(folder.shown(path))
    if isinstance(source, Unread):
        if source.reason != "missing":
            return _unread(folder, path, source)
        name = posixpath.basename(path).removesuffix(".yaml")
        there = folder.names(VALUES_FOLDER)
        misnamed = [item for item in there if is_yaml_called(name, item)]
        if misnamed:
            ending = f"; rename {quote(folder.shown(f'{VALUES_FOLDER}/{misnamed[0]}'))}"
        else:
            ending = suggest(name, [item[:-5] for item in there if item.endswith(".yaml")])
        message = f"environment {quote(name)} has no values file {shown}{ending}"
        return Diagnostic("missing-environment", message)
    read = read_document(
        source, folder.shown(path), max_file_bytes=folder.max_file_bytes, role="settings"
    )
    document = replace(read.document, is_private=True)
    values, problems = decode_values(document)
    found = _located((*without_values(read.diagnostics), *problems), document)
    return SettingsFile(document, tuple(found), (path,), values)


def _unread(folder: WorkflowFolder, path: str, unread: Unread) -> SettingsFile:
    """Return what stands for a file that is there, but cannot be read."""
    reason = unread.detail or "a symbolic link leads out of the folder"
    document = SourceDocument(folder.shown(path), "")
    problem = Diagnostic("unreadable-file", f"cannot read the file: {reason}", document=document)
    return SettingsFile(document, (problem,), (path,))


def _defaults_names(path: str) -> list[str]:
    """Return where defaults of a workflow may stand, the nearest first."""
    names = []
    folder = posixpath.dirname(path)
    while folder:
        names.append(f"{folder}/{DEFAULTS_NAME}")
        folder = posixpath.dirname(folder)
    return [*names, DEFAULTS_NAME]


def _has_errors(problems: Iterable[Diagnostic]) -> bool:
    return any(item.is_error for item in problems)


def _located(problems: Iterable[Diagnostic], document: SourceDocument) -> list[Diagnostic]:
    """Return diagnostics that a report on another file can show: with their places."""
    located = []
    for item in problems:
        related = tuple(_related(other, document) for other in item.related)
        where, span = item.document or document, item.span
        if span is None:
            where, span = document.find(item.path, item.part, item.fragment)
        located.append(replace(item, span=span, document=where, related=related))
    return located


def _related(other: Related, document: SourceDocument) -> Related:
    if other.span is not None:
        return replace(other, file=other.file or document.name)
    where, span = document.find(other.path, other.part, other.fragment)
    return replace(other, span=span, file=where.name)


def _used(
    problems: Iterable[Diagnostic], document: SourceDocument, used: SourceDocument
) -> list[Diagnostic]:
    """Return diagnostics whose notes say which workflow they concern."""
    return [
        replace(item, document=used if item.document in (None, document) else item.document)
        for item in problems
    ]
