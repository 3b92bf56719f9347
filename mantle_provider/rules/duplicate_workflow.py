"""Two files define a workflow of the same name, which would be one Dag id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mantle_provider.diagnostics.report import Report
    from mantle_provider.source.span import Span


class WorkflowNames:
    """The workflow names of several files. Has state: the first file of each."""

    def __init__(self) -> None:
        self._first: dict[str, Report] = {}

    def take(self, name: str, report: Report) -> Diagnostic | None:
        """Take a name for a file, or return the error that an earlier one has it."""
        first = self._first.setdefault(name, report)
        if first is report:
            return None
        place = first.place(Related("", ("name",)))
        return duplicate_name(name, place.name, place.span)


def check_names(reports: Iterable[Report]) -> list[Report]:
    """Return the reports of several files, those that repeat a workflow's name with an error."""
    names = WorkflowNames()
    checked = []
    for report in reports:
        value = report.document.value if report.document else None
        name = value.get("name") if isinstance(value, dict) else None
        problem = names.take(name, report) if isinstance(name, str) else None
        checked.append(report if problem is None else report.with_diagnostics([problem]))
    return checked


def duplicate_name(name: str, file: str, span: Span | None = None) -> Diagnostic:
    """Return the error of a workflow whose name ``file`` has taken.

    :param span: where in that file, when it is known.
    """
    related = Related("first used here", ("name",), span=span, file=file)
    message = f"two files have the workflow name {quote(name)}; rename one"
    return Diagnostic("duplicate-workflow", message, ("name",), related=(related,))
