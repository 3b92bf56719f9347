"""Cron triggers in different time zones, for which an Airflow schedule has no form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote
from mantle_provider.workflow.timezones import timezone_exists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

_DEFAULT = "UTC"


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare each trigger's zone with the first one's.

    ``MultipleCronTriggerTimetable`` of Airflow has one zone for all its expressions.
    """
    default = subject.workflow.airflow.timezone or _DEFAULT
    zones = [(path, trigger.timezone or default) for path, trigger in subject.cron_triggers]
    triggers = [(path, zone) for path, zone in zones if timezone_exists(zone)]
    for path, zone in triggers[1:]:
        first_path, first_zone = triggers[0]
        if zone != first_zone:
            message = (
                f"the cron triggers of a workflow share one time zone; this one is in "
                f"{quote(zone)}, the first in {quote(first_zone)}; make it two workflows"
            )
            related = Related("the first is here", first_path)
            yield Diagnostic("several-timezones", message, path, related=(related,))
