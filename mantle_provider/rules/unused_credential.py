"""A step names a connection that its action does not use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Refuse the key ``credential`` where it would be ignored."""
    for placed, step in subject.decoded:
        spec = ACTIONS.get(step.action or "")
        if spec and spec.credential == "none" and step.credential is not None:
            message = f'action {quote(spec.name)} uses no connection; remove the key "credential"'
            if spec.has_free_params:
                message = (
                    f"action {quote(spec.name)} takes its connection as a parameter, under the"
                    " name that the operator gives it"
                )
            path = (*placed.path, "credential")
            yield Diagnostic("unused-credential", message, path, part="key")
