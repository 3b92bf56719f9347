"""All diagnostics of one file, in the order of the file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Related

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mantle_provider.diagnostics.diagnostic import Diagnostic
    from mantle_provider.source.document import SourceDocument
    from mantle_provider.source.span import Span


@dataclass(frozen=True)
class Report:
    """What a check found.

    :param name: how the file is called in messages.
    :param diagnostics: sorted by position, without duplicates.
    :param document: the source; ``None`` for a workflow that never was a file, whose diagnostics
        have no position.
    """

    name: str
    diagnostics: tuple[Diagnostic, ...] = ()
    document: SourceDocument | None = field(default=None, compare=False, repr=False)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics because of which the file cannot be used."""
        return tuple(item for item in self.diagnostics if item.is_error)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that the file can be used in spite of."""
        return tuple(item for item in self.diagnostics if not item.is_error)

    @property
    def is_ok(self) -> bool:
        """Whether there is no error."""
        return all(not item.is_error for item in self.diagnostics)

    def with_diagnostics(self, more: Iterable[Diagnostic]) -> Report:
        """Return this report with ``more`` sorted in; what stands twice is kept once."""
        seen: dict[tuple[object, ...], Diagnostic] = {}
        for item in (*self.diagnostics, *more):
            # Values under an alias are checked once for each use, but stand in one place.
            key = (self.locate(item) or item.path, item.code, item.message)
            seen.setdefault(key, item)
        ordered = sorted(seen.values(), key=self._position)
        return replace(self, diagnostics=tuple(ordered))

    def locate(self, item: Diagnostic | Related) -> Span | None:
        """Return where a diagnostic or a related place stands, ``None`` where it is not known."""
        is_elsewhere = isinstance(item, Related) and item.file is not None
        if item.span is not None or is_elsewhere or self.document is None:
            return item.span
        return self.document.locate(item.path, item.part, item.fragment)

    def _position(self, item: Diagnostic) -> tuple[int, int, str, str]:
        span = self.locate(item)
        line, column = (0, 0) if span is None else (span.line, span.column)
        return line, column, item.code, item.message
