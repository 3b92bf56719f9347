"""An expression computes which step it reads, and the step waits for none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Find ``steps[...]`` with a computed name, or ``steps`` as a whole, without dependencies.

    A computed name adds no dependency, so such an expression reads only what the step waits for
    anyway.
    """
    edges = subject.edges
    for item in subject.references_to("steps"):
        is_computed = not item.reference.path or item.reference.path[0] is None
        if is_computed and item.placed.section == "steps" and not edges.get(item.placed.name or ""):
            message = (
                f"step {quote(item.placed.name or '')} computes which step it reads, and waits for"
                ' none; name the steps that it may read under "depends_on"'
            )
            yield Diagnostic(
                "dynamic-reference",
                message,
                item.expression.path,
                "warning",
                fragment=item.fragment,
            )
