"""A time zone does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote, suggest
from mantle_provider.workflow.timezones import timezone_exists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look each name up in the time zone database of this machine."""
    named: list[tuple[Path, str | None]] = [
        (("airflow", "timezone"), subject.workflow.airflow.timezone)
    ]
    named += [((*path, "timezone"), trigger.timezone) for path, trigger in subject.cron_triggers]
    for path, name in named:
        if name is not None and not timezone_exists(name):
            message = f"time zone {quote(name)} does not exist{_cure(name)}"
            yield Diagnostic("invalid-timezone", message, path)


def _cure(name: str) -> str:
    from zoneinfo import available_timezones  # noqa: PLC0415  # few files need it

    names = sorted(available_timezones())
    spelled = {zone.lower(): zone for zone in names}.get(name.lower())
    if spelled:
        return f"; did you mean {quote(spelled)}?"
    return suggest(name, names) or '; write a name such as "Europe/Berlin"'
