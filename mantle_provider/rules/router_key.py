"""A router step has a key that only a step with an action can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

_OF_ACTIONS = ("params", "credential", "registry_credential", "for_each", "artifacts", "outputs")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for keys about an action beside ``switch``."""
    for placed, step in subject.decoded:
        for key in _OF_ACTIONS if step.switch else ():
            if subject.has(*placed.path, key):
                message = (
                    f'a step with "switch" cannot have the key {quote(key)}: it runs no action,'
                    " but chooses the step that does"
                )
                yield Diagnostic("router-key", message, (*placed.path, key), part="key")
