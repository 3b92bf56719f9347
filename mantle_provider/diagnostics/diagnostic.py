"""One mistake in a user's file, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from mantle_provider.source.document import SourceDocument
    from mantle_provider.source.span import Fragment, Part, Path, Span

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a diagnostic, such as the first of two duplicates.

    :param span: as for :class:`Diagnostic`.
    :param file: name of the file when it is another one; ``span`` then says where in it.
    """

    message: str
    path: Path
    part: Part = "value"
    fragment: Fragment | None = None
    span: Span | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake, named by its path; the report knows the line when it is rendered.

    :param code: a slug of :data:`mantle_provider.diagnostics.CATALOGUE`.
    :param message: lower case, without a final full stop, the user's own text in double quotes.
    :param part: point at the key or at the value.
    :param fragment: point at a piece of a string value only.
    :param hint: how to mend it, where the message has not said so.
    :param span: where it stands in the text, when the path alone cannot say: the text is no YAML,
        or the place is not in the tree (a second value of one key, a key that is no string).
    :param document: the document of ``span``, where it is not the report's own.
    """

    code: str
    message: str
    path: Path = ()
    severity: Severity = "error"
    part: Part = "value"
    fragment: Fragment | None = None
    hint: str | None = None
    related: tuple[Related, ...] = ()
    span: Span | None = None
    document: SourceDocument | None = field(default=None, compare=False, repr=False)

    @property
    def is_error(self) -> bool:
        """Whether the file cannot be used because of it."""
        return self.severity == "error"
