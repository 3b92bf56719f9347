"""A step says what a failed dependency means, but it has no dependency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for ``on_dep_failure`` on steps that neither name a dependency nor read another step."""
    for placed, step in subject.decoded:
        # What `depends_on` names wrongly is reported by itself.
        if placed.section != "steps" or step.depends_on or subject.edges.get(step.name):
            continue
        path = (*placed.path, "on_dep_failure")
        if subject.has(*path):
            message = (
                f'"on_dep_failure" has no effect: step {quote(step.name)} depends on no other;'
                " it says nothing about the failure of the step itself"
            )
            yield Diagnostic("policy-without-dependency", message, path, "warning", part="key")
