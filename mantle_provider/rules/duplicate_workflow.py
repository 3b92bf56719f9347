"""Two files define a workflow of the same name, which would be one Dag id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mantle_provider.diagnostics.report import Report
    from mantle_provider.source.span import Span


def check_names(reports: Iterable[Report]) -> list[Report]:
    """Return the reports of several files, those that repeat a workflow's name with an error."""
    first: dict[str, Report] = {}
    checked = []
    for report in reports:
        value = report.document.value if report.document else None
        name = value.get("name") if isinstance(value, dict) else None
        if isinstance(name, str) and name in first:
            other = first[name]
            span = other.document.locate(("name",)) if other.document else None
            checked.append(report.with_diagnostics([duplicate_name(name, other.name, span)]))
            continue
        if isinstance(name, str):
            first[name] = report
        checked.append(report)
    return checked


def duplicate_name(name: str, file: str, span: Span | None = None) -> Diagnostic:
    """Return the error of a workflow whose name ``file`` has taken.

    :param span: where in that file, when it is known.
    """
    related = Related("first used here", ("name",), span=span, file=file)
    message = f"two files have the workflow name {quote(name)}; rename one"
    return Diagnostic("duplicate-workflow", message, ("name",), related=(related,))
