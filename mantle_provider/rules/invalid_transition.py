"""A step would go back: to itself, or to a step that runs before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote
from mantle_provider.rules.ways import steps_behind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.rules.ways import Way

_REASON = "; a run of Airflow only goes forward"


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare each recovery target and switch case with the step and with what it waits for."""
    for way in subject.backward_ways:
        yield Diagnostic("invalid-transition", _message(way), way.path)
    yield from _unreachable_targets(subject)


def _message(way: Way) -> str:
    verb = "recover with" if way.kind == "recovery" else "go to"
    if way.target == way.source:
        cure = '; use "retry"' if way.kind == "recovery" else ""
        return f"step {quote(way.target)} cannot {verb} itself{cure}"
    return (
        f"step {quote(way.source)} cannot {verb} {quote(way.target)}, which runs before it{_REASON}"
    )


def _unreachable_targets(subject: Subject) -> Iterator[Diagnostic]:
    """Look for targets of the error handler that run before every step it could be asked about."""
    handler = subject.workflow.error_handler
    for index, target in enumerate(handler.targets if handler else ()):
        if steps_behind(subject, target).issuperset(subject.main_names):
            message = (
                f"the error handler can never go to {quote(target)}, since every other step runs"
                f" after it{_REASON}"
            )
            yield Diagnostic("invalid-transition", message, ("error_handler", "targets", index))
