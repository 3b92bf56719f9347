"""One hook's own timeout leaves nothing of the time that all hooks share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote
from mantle_provider.workflow.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.workflow.decode import PlacedStep


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare the timeout of each hook that others follow with ``hooks.timeout``."""
    budget = subject.workflow.hooks.timeout
    if budget is None:
        return
    related = Related(f"all hooks share {format_duration(budget)}", ("hooks", "timeout"))
    for placed in subject.hooks:
        timeout = placed.step.timeout if placed.step else None
        if timeout is not None and timeout >= budget and _has_follower(subject, placed):
            message = (
                f"hook {quote(placed.name or '')} may take all the time of the hooks, and those"
                ' after it then fail unstarted; give it less than "hooks.timeout"'
            )
            path = (*placed.path, "timeout")
            yield Diagnostic("hook-timeout", message, path, "warning", related=(related,))


def _has_follower(subject: Subject, placed: PlacedStep) -> bool:
    """Whether another hook may run in the same run after this one."""
    return any(
        other.path > placed.path
        if other.section == placed.section
        else other.section == "on_finish"
        for other in subject.hooks
    )
