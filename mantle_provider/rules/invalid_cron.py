"""A schedule is no cron expression, or never comes due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote
from mantle_provider.workflow.cron import CronError, check_cron

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Check the schedule of each cron trigger."""
    for path, trigger in subject.cron_triggers:
        error = _find_error(trigger.schedule)
        if error is not None:
            message = f"schedule {quote(trigger.schedule)} {error}"
            yield Diagnostic("invalid-cron", message, (*path, "schedule"), fragment=error.fragment)


def _find_error(schedule: str) -> CronError | None:
    try:
        check_cron(schedule)
    except CronError as error:
        return error
    return None
