"""A workflow names the same listener twice, which would tell it everything twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare the dotted paths."""
    first: dict[str, Path] = {}
    # As it was read: what could not be decoded is missing from the workflow's list.
    listed = subject.draft.value.get("listeners")
    for index, listener in enumerate(listed if isinstance(listed, list) else ()):
        path = ("listeners", index)
        if not isinstance(listener, str):
            continue
        if listener in first:
            related = Related("first named here", first[listener])
            message = f"listener {quote(listener)} is named twice; remove one"
            yield Diagnostic("duplicate-listener", message, path, related=(related,))
        first.setdefault(listener, path)
