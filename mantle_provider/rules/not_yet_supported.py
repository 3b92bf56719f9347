"""A key or value of the language that this version reads and checks, but cannot run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote
from mantle_provider.workflow.model import EmailTrigger, WebhookTrigger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

_ENDING = "is part of the language, but not supported by this version yet"


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Report the planned keys, and the planned values of keys that work."""
    for path in subject.draft.planned:
        message = f"key {quote(str(path[-1]))} {_ENDING}"
        yield Diagnostic("not-yet-supported", message, path, part="key")
    for path, trigger in subject.triggers:
        if isinstance(trigger, WebhookTrigger | EmailTrigger):
            kind = "webhook" if isinstance(trigger, WebhookTrigger) else "email"
            message = f'trigger of type "{kind}" {_ENDING}'
            yield Diagnostic("not-yet-supported", message, (*path, "type"))
