"""A step names the same dependency twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for repeated entries of ``depends_on``."""
    for placed, step in subject.decoded:
        first: dict[str, int] = {}
        for index, name in enumerate(step.depends_on):
            if first.setdefault(name, index) < index and not placed.is_hook:
                related = Related("first named here", (*placed.path, "depends_on", first[name]))
                yield Diagnostic(
                    "duplicate-dependency",
                    f"step {quote(step.name)} names {quote(name)} twice; remove one entry",
                    (*placed.path, "depends_on", index),
                    "warning",
                    related=(related,),
                )
