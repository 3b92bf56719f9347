"""An expression reads a hook that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote, suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Check the expressions of hooks; main steps can read none at all."""
    for item in subject.references_to("hooks"):
        name = item.name
        if name is None or name in subject.hook_names or not item.placed.is_hook:
            continue
        ending = suggest(name, subject.hook_names)
        if name in subject.main_names:
            ending = f"; the main step of that name is read as steps['{name}']"
        message = f"hook {quote(name)} does not exist{ending}"
        yield Diagnostic("undefined-hook", message, item.expression.path, fragment=item.fragment)
