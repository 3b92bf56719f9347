"""A step depends on itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for a step's own name in its ``depends_on``."""
    for placed, step in subject.decoded:
        for index, name in enumerate(step.depends_on):
            if name == step.name and not placed.is_hook:
                message = f"step {quote(name)} depends on itself; remove the entry"
                yield Diagnostic("self-dependency", message, (*placed.path, "depends_on", index))
