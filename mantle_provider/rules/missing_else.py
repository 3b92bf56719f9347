"""A router step has no way out for when none of its cases holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for a ``switch`` without ``else``."""
    for placed, step in subject.decoded:
        if step.switch and all(case.when is not None for case in step.switch):
            message = (
                f"step {quote(step.name)} fails when none of its cases holds;"
                ' add a last entry "else", or "on_error"'
            )
            path = (*placed.path, "switch")
            if not step.on_error:
                yield Diagnostic("missing-else", message, path, "warning", part="key")
