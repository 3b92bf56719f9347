"""An expression reads an artifact that no step leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote, suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare what is read with the declared artifacts; silent when some could not be decoded."""
    if any(placed.step is None for placed in subject.draft.steps):
        return
    for item in subject.references_to("artifacts"):
        name = item.name
        if name is not None and name not in subject.artifact_names:
            ending = suggest(name, subject.artifact_names, none="no step declares any")
            message = f"artifact {quote(name)} does not exist{ending}"
            yield Diagnostic(
                "undefined-artifact", message, item.expression.path, fragment=item.fragment
            )
