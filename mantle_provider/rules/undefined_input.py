"""An expression reads an input that is not declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote, suggest
from mantle_provider.rules.reserved_input import RESERVED_INPUTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.diagnostics.diagnostic import Severity
    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare what is read with the declared inputs and those that the engine itself fills."""
    declared = subject.draft.value.get("inputs")
    names = list(declared) if isinstance(declared, dict) else []
    for item in subject.references_to("inputs"):
        name = item.name
        if name is None or name in names or name in RESERVED_INPUTS:
            continue
        # Mantle takes undeclared inputs, and a guard says that this one may well be absent.
        severity: Severity = "warning" if item.reference.is_guarded else "error"
        ending = suggest(name, names, none='declare it under "inputs"')
        message = f"input {quote(name)} is not declared{ending}"
        yield Diagnostic(
            "undefined-input", message, item.expression.path, severity, fragment=item.fragment
        )
