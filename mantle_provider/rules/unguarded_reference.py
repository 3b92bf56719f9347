"""An expression reads a field of an output that may not be there, and has no fallback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import PlacedReference, Subject

_FIELD_DEPTH = 3
"""Length of the path of a field: name, ``output``, field."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look at outputs of steps that may be skipped or may have failed.

    Silent when the expression, or the ``if`` of the step that reads, also asks about the same
    step in a safe way: its status or error, its whole output, or a field in ``has()``.
    """
    careful = {
        (item.placed.path, item.name)
        for item in subject.references_to("steps")
        if _asks(item) and item.expression.site.role == "if"
    }
    careful_here = {
        (item.expression.path, item.name) for item in subject.references_to("steps") if _asks(item)
    }
    for item in subject.references_to("steps"):
        reason = _reason(subject, item)
        if (
            reason
            and not item.reference.is_guarded
            and (item.placed.path, item.name) not in careful
            and (item.expression.path, item.name) not in careful_here
        ):
            message = (
                f"step {quote(item.name or '')} {reason}, and then its output has no such field;"
                " write default(..., <fallback>) or ask has(...) first"
            )
            yield Diagnostic(
                "unguarded-reference",
                message,
                item.expression.path,
                "warning",
                fragment=item.fragment,
            )


def _asks(item: PlacedReference) -> bool:
    """Whether a reference itself finds out if there is an output."""
    path = item.reference.path
    is_state = len(path) > 1 and path[1] in ("error", "status", "failure")
    is_whole = len(path) == _FIELD_DEPTH - 1 and path[1] == "output"
    return is_state or is_whole or item.reference.is_guarded


def _reason(subject: Subject, item: PlacedReference) -> str:
    """Return why the output may lack the field; empty when it does not."""
    path = item.reference.path
    if item.name is None or len(path) < _FIELD_DEPTH or path[1] != "output":
        return ""
    placed = subject.main_names.get(item.name) or subject.before_names.get(item.name)
    step = placed.step if placed else None
    if step is None:
        return ""
    if step.condition is not None:
        return "may be skipped"
    if step.continue_on_error:
        return "may fail"
    if item.placed.section in ("on_failure", "on_finish"):
        return "may not have run"
    return ""
