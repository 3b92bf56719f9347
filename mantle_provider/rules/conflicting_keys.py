"""Two keys say the same thing, so that one of them would be ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for a time zone both of the workflow and of one of its triggers."""
    if subject.workflow.airflow.timezone is None:
        return
    related = Related("also given here", ("airflow", "timezone"), "key")
    for path, trigger in subject.cron_triggers:
        if trigger.timezone is not None:
            message = '"timezone" is given here and under "airflow"; remove one of them'
            yield Diagnostic(
                "conflicting-keys", message, (*path, "timezone"), part="key", related=(related,)
            )
