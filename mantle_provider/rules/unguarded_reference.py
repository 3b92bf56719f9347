"""An expression reads a field of an output that may not be there, and has no fallback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote
from mantle_provider.rules.prospects import incomplete_steps
from mantle_provider.rules.ways import steps_behind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mantle_provider.rules.subject import PlacedReference, Subject
    from mantle_provider.workflow.model import ErrorHandler

_FIELD_DEPTH = 3
"""Length of the path of a field: name, ``output``, field."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look at outputs of steps that may be skipped, passed by, or may have failed.

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
    recoveries = _recoveries(subject)
    incomplete = incomplete_steps(subject) if _has_gaps(subject) else {}
    for item in subject.references_to("steps"):
        reason = _reason(subject, item) or _reason_of_ways(subject, item, recoveries)
        if not reason and item.placed.section == "on_success" and _is_field(item):
            reason = incomplete.get(item.name or "", "")
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


def _has_gaps(subject: Subject) -> bool:
    """Whether a run may complete without all that its steps are to produce, and a hook cares."""
    if not any(placed.section == "on_success" for placed in subject.hooks):
        return False
    return bool(subject.ways) or any(
        step.on_dep_failure == "cancel_branch" for _, step in subject.decoded
    )


def _is_field(item: PlacedReference) -> bool:
    """Whether a reference reads a field of the output of a step that it names."""
    path = item.reference.path
    return item.name is not None and len(path) >= _FIELD_DEPTH and path[1] == "output"


def _reason(subject: Subject, item: PlacedReference) -> str:
    """Return why the output may lack the field; empty when it does not."""
    if item.name is None or not _is_field(item):
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


def _reason_of_ways(
    subject: Subject, item: PlacedReference, recoveries: Mapping[str, set[str]]
) -> str:
    """Return why the output may lack the field, since steps may go to others or not."""
    read, reader = item.name, item.placed
    if read is None or not _is_field(item):
        return ""
    if reader.section == "steps" and reader.name in recoveries.get(read, ()):
        return "may have failed when this step runs"
    if read not in subject.passed_by:
        return ""
    # What depends on such a step alone is passed by as well.
    edges = subject.edges.get(reader.name or "", [])
    is_alone = reader.section == "steps" and all(edge.target == read for edge in edges)
    return "" if is_alone else "may be passed by"


def _recoveries(subject: Subject) -> dict[str, set[str]]:
    """Return the steps that run when one has failed: step -> its recovery and what depends on it.

    Any step may go to a target of the error handler.
    """
    handler = subject.workflow.error_handler
    targets = [(name, target) for name in subject.main_names for target in _targets(handler)]
    targets += [(way.source, way.target) for way in subject.ways if way.kind == "recovery"]
    below: dict[str, set[str]] = {}
    found: dict[str, set[str]] = {}
    for source, target in targets:
        if target not in below:
            below[target] = steps_behind(subject, target)
        found.setdefault(source, set()).update(below[target])
    return found


def _targets(handler: ErrorHandler | None) -> tuple[str, ...]:
    return handler.targets if handler else ()
