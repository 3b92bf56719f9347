"""Two keys or parameters say the same thing, so that one of them would be ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import join_choices, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for a second time zone, and for parameters of which an action takes only one."""
    yield from _time_zones(subject)
    yield from _parameters(subject)


def _time_zones(subject: Subject) -> Iterator[Diagnostic]:
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


def _parameters(subject: Subject) -> Iterator[Diagnostic]:
    for placed, step in subject.decoded:
        spec = ACTIONS.get(step.action or "")
        choices = spec.exactly_one if spec else ()
        given = [name for name in choices if step.params.get(name) is not None]
        for name in given[1:]:
            message = (
                f"action {quote(step.action or '')} takes only one of the parameters"
                f" {join_choices(map(quote, given), 'and')}; remove one of them"
            )
            params = (*placed.path, "params")
            related = (Related("also given here", (*params, given[0]), "key"),)
            yield Diagnostic(
                "conflicting-keys", message, (*params, name), part="key", related=related
            )
