"""A main step reads what only hooks can know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote
from mantle_provider.lifecycle import EXECUTION_END_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look at main steps that read hooks, or how the main steps ended."""
    for item in subject.references_to("hooks", "execution"):
        if item.placed.is_hook:
            continue
        if item.reference.root == "hooks":
            message = 'main steps run before all hooks, so "hooks" can be read by hooks alone'
        elif item.name in EXECUTION_END_FIELDS:
            field = quote(f"execution.{item.name}")
            message = f"{field} is known when the main steps have ended, so by hooks alone"
        else:
            continue
        yield Diagnostic("out-of-scope", message, item.expression.path, fragment=item.fragment)
