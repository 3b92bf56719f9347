"""A schedule starts runs, but cannot give them an input that they must have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote
from mantle_provider.workflow.model import CronTrigger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for required inputs without default in a workflow that has a schedule."""
    workflow = subject.workflow
    is_scheduled = any(isinstance(item, CronTrigger) for item in workflow.triggers)
    if not is_scheduled and not workflow.airflow.assets:
        return
    key = ("triggers",) if is_scheduled else ("airflow", "assets")
    related = Related("runs are started without inputs here", key, "key")
    for item in workflow.inputs:
        if item.required and item.default is None:
            message = (
                f"input {quote(item.name)} is required and has no default, but the workflow is"
                " scheduled; give it a default"
            )
            path = ("inputs", item.name, "required")
            yield Diagnostic("missing-default", message, path, related=(related,))
