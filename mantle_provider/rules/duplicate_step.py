"""Two main steps have the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare the names under ``before_start`` and ``steps``, which expressions read alike."""
    first: dict[str, Path] = {}
    for placed in subject.draft.steps:
        if placed.is_hook or placed.name is None:
            continue
        path = (*placed.path, "name")
        if placed.name in first:
            related = Related("first used here", first[placed.name])
            message = f"two steps have the name {quote(placed.name)}; rename one"
            yield Diagnostic("duplicate-step", message, path, related=(related,))
        first.setdefault(placed.name, path)
