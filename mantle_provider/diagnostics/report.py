"""All diagnostics of one file, in the order of the file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mantle_provider.source.document import SourceDocument
    from mantle_provider.source.span import Span


@dataclass(frozen=True, slots=True)
class Place:
    """Where a diagnostic or a note points.

    :param name: how the file is called in messages.
    :param span: ``None`` where only the file is known.
    :param document: ``None`` where there is no text to show.
    """

    name: str
    span: Span | None = None
    document: SourceDocument | None = None


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
            seen.setdefault(self.identity(item), item)
        ordered = sorted(seen.values(), key=self._position)
        return replace(self, diagnostics=tuple(ordered))

    def locate(self, item: Diagnostic | Related) -> Span | None:
        """Return where a diagnostic or a related place stands, ``None`` where it is not known."""
        return self.place(item).span

    def place(self, item: Diagnostic | Related) -> Place:
        """Return the file and the position of a diagnostic or of a related place."""
        if isinstance(item, Related) and item.file is not None:
            return Place(item.file, item.span)
        document = self.document
        if isinstance(item, Diagnostic) and item.document is not None:
            document = item.document
        if document is None:
            return Place(self.name, item.span)
        if item.span is not None:
            return Place(document.name, item.span, document)
        document, span = document.find(item.path, item.part, item.fragment)
        return Place(document.name, span, document)

    def notes(self, item: Diagnostic) -> list[tuple[Place, str]]:
        """Return the other places that belong to a diagnostic, each with what is there.

        Of a mistake in another file that the workflow uses, also where it is used.
        """
        notes = [(self.place(other), other.message) for other in item.related]
        document = self.place(item).document
        while document is not None and document.use is not None:
            use = document.use
            document = use.document
            notes.append((Place(document.name, use.span, document), use.message))
        # In a circle of files one place may be both.
        return [*{(place.name, place.span, text): (place, text) for place, text in notes}.values()]

    def identity(self, item: Diagnostic) -> tuple[object, ...]:
        """Return what tells two diagnostics apart, in one report or in several."""
        place = self.place(item)
        return place.name, place.span or item.path, item.code, item.message

    def _position(self, item: Diagnostic) -> tuple[bool, str, int, int, str, str]:
        place = self.place(item)
        line, column = (0, 0) if place.span is None else (place.span.line, place.span.column)
        return place.name != self.name, place.name, line, column, item.code, item.message


def tell_once(reports: Sequence[Report]) -> list[Report]:
    """Return the reports of several files with each mistake in a file that they share told once.

    It stays with the report of the file that it stands in, else with the first one, and has a note
    for each place that uses that file.
    """
    holders: dict[tuple[object, ...], Report] = {}
    for report in reports:
        for item in report.diagnostics:
            identity = report.identity(item)
            if report.place(item).name == report.name:
                holders[identity] = report
            else:
                holders.setdefault(identity, report)
    uses: dict[tuple[object, ...], list[Related]] = {}
    for report in reports:
        for item in report.diagnostics:
            identity = report.identity(item)
            if holders[identity] is not report:
                uses.setdefault(identity, []).extend(
                    Related(message, (), span=place.span, file=place.name)
                    for place, message in report.notes(item)
                )
    return [_told(report, holders, uses) for report in reports] if uses else [*reports]


def _told(
    report: Report,
    holders: Mapping[tuple[object, ...], Report],
    uses: Mapping[tuple[object, ...], list[Related]],
) -> Report:
    told = []
    for item in report.diagnostics:
        identity = report.identity(item)
        if holders[identity] is report:
            related = (*item.related, *uses.get(identity, ()))
            told.append(replace(item, related=related))
    return replace(report, diagnostics=tuple(told))
