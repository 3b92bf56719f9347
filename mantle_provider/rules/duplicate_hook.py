"""Two hooks of one block have the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare the names within each block; another block or a main step may share one."""
    first: dict[tuple[str, str], Path] = {}
    for placed in subject.hooks:
        if placed.name is None:
            continue
        key = (placed.section, placed.name)
        path = (*placed.path, "name")
        if key in first:
            related = Related("first used here", first[key])
            message = (
                f'two hooks of "{placed.section}" have the name {quote(placed.name)}; rename one'
            )
            yield Diagnostic("duplicate-hook", message, path, related=(related,))
        first.setdefault(key, path)
