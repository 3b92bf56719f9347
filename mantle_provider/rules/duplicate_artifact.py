"""Two artifacts of a workflow have the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare the names over all steps and hooks."""
    first: dict[str, Path] = {}
    for placed, step in subject.decoded:
        for index, artifact in enumerate(step.artifacts):
            path = (*placed.path, "artifacts", index, "name")
            if artifact.name in first:
                related = Related("first used here", first[artifact.name])
                message = f"two artifacts have the name {quote(artifact.name)}; rename one"
                yield Diagnostic("duplicate-artifact", message, path, related=(related,))
            first.setdefault(artifact.name, path)
