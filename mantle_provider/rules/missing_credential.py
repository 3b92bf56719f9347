"""An action needs a connection, and the step names none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for the key ``credential`` where the action demands it."""
    for placed, step in subject.decoded:
        spec = ACTIONS.get(step.action or "")
        if spec and spec.credential == "required" and not step.credential:
            kind = f' of type "{spec.connection_type}"' if spec.connection_type else ""
            message = (
                f'action {quote(spec.name)} needs the key "credential": the id of an Airflow'
                f" connection{kind}"
            )
            yield Diagnostic("missing-credential", message, placed.path)
