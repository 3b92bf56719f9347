"""An input has a name that the language itself fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

RESERVED_INPUTS = ("trigger", "tool_input")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare the names of the inputs with the reserved ones."""
    for item in subject.workflow.inputs:
        if item.name in RESERVED_INPUTS:
            message = f"input name {quote(item.name)} is reserved; rename the input"
            yield Diagnostic("reserved-input", message, ("inputs", item.name), part="key")
