"""Text or file to report: the only place that joins reading, decoding and the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.report import Report
from mantle_provider.diagnostics.wording import describe
from mantle_provider.source.reader import DEFAULT_MAX_FILE_BYTES, read_document
from mantle_provider.workflow.decode import decode_workflow

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from mantle_provider.source.reader import ReadResult
    from mantle_provider.workflow.model import Workflow

_OWN_KEYS = frozenset({"steps", "hooks", "triggers"})
_HARMLESS = frozenset({"duplicate-key", "leading-zero"})
"""Reader's codes that leave a right value in the tree, so that what follows is no consequence."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a platform team may limit.

    :param allowed_actions: shell patterns of actions, of which one must match.
    :param max_file_bytes: size of a file.
    """

    allowed_actions: tuple[str, ...] = ("*",)
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What checking one file gave.

    :param workflow: ``None`` when the report has an error.
    :param is_foreign: the text parses as YAML and has none of the keys ``steps``, ``hooks`` and
        ``triggers``: a loader of folders leaves such a file alone.
    :param sources: the other files that were read or looked for, as paths below the folder with
        forward slashes: when one of them changes, comes or goes, the result may change.
    """

    report: Report
    workflow: Workflow | None = None
    is_foreign: bool = False
    sources: tuple[str, ...] = ()


def check_file(path: str | os.PathLike[str], options: CheckOptions | None = None) -> CheckResult:
    """Check one workflow file.

    :raises OSError: the file cannot be read.
    """
    options = options or CheckOptions()
    with open(path, "rb") as file:  # noqa: PTH123  # pathlib costs a tenth of the start-up
        # One byte more than the limit tells a file that is too large from one that just fits.
        source = file.read(options.max_file_bytes + 1)
    return _check(source, str(path), options)


def check_text(
    text: str | bytes, name: str = "<text>", options: CheckOptions | None = None
) -> CheckResult:
    """Check a workflow given as text.

    :param name: how diagnostics call it.
    """
    return _check(text, name, options or CheckOptions())


def _check(source: str | bytes, name: str, options: CheckOptions) -> CheckResult:
    read = read_document(source, name, max_file_bytes=options.max_file_bytes)
    empty = Report(name, document=read.document)
    if read.document.root is None:
        return CheckResult(empty.with_diagnostics(read.diagnostics), None, _is_foreign(read))
    value = read.document.value
    if not isinstance(value, dict):
        message = f"the top level must be a mapping with the workflow's keys, not {describe(value)}"
        found = (*read.diagnostics, Diagnostic("root-not-a-mapping", message))
        return CheckResult(empty.with_diagnostics(found), None, _is_foreign(read))
    draft = decode_workflow(value)
    # Imported here: the rules bring the expression compiler, which a foreign file does not need.
    from mantle_provider.rules import run_rules  # noqa: PLC0415

    found = (*draft.diagnostics, *run_rules(draft, options.allowed_actions))
    report = empty.with_diagnostics((*read.diagnostics, *_without_consequences(found, read)))
    return CheckResult(report, draft.workflow if report.is_ok else None, _is_foreign(read))


def _is_foreign(read: ReadResult) -> bool:
    return read.root_values is not None and not any(
        isinstance(value, dict) and _OWN_KEYS & value.keys() for value in read.root_values
    )


def _without_consequences(found: Iterable[Diagnostic], read: ReadResult) -> list[Diagnostic]:
    """Leave out what was found at or below a value that could not be read."""
    unread = {item.path for item in read.diagnostics if item.code not in _HARMLESS}
    if not unread:
        return [*found]
    return [
        item
        for item in found
        if not any(item.path[:length] in unread for length in range(len(item.path) + 1))
    ]
