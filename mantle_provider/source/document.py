"""A YAML document that has been read: plain values, and their positions beside them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mantle_provider.source.span import Span

if TYPE_CHECKING:
    from mantle_provider.source.span import Fragment, Part, Path

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""What libyaml counts as the end of a line (YAML 1.1, section 5.4)."""

_ESCAPED = {
    "'": "''?",
    '"': r'\\?"',
    "\\": r"\\\\?",
}
_WHITE_SPACE = re.compile(r"\s+")

_NOTHING: Any = MappingProxyType({})
"""What a scalar has of children and keys. One for all: were they dicts of its own, the garbage
collector would take a tenth of the time in which files are read, checked and planned. Behind a
factory, since dataclasses take what cannot be hashed for a mistake."""


@dataclass(slots=True)
class Node:
    """One value and where it stands.

    A value under an alias, or from a merge, stands where it is written, which is at its anchor.

    :param start: index of the first code point in the text; ``end`` is exclusive.
    :param children: for a mapping by key, for a list by index.
    :param key_spans: for a mapping, where each key stands.
    :param alias_count: aliases at and below this node, those inside an alias counted each time.
    :param size: nodes at and below this one, counted the same way.
    :param source: the document in which the value stands, where that is not its parent's.
    :param key_sources: for a mapping, the same of those keys that were merged in.
    :param include: for what another file gave, the scalar that names that file.
    """

    value: Any
    span: Span
    start: int
    end: int
    is_block_scalar: bool = False
    children: dict[str | int, Node] = field(default_factory=lambda: _NOTHING)
    key_spans: dict[str, Span] = field(default_factory=lambda: _NOTHING)
    alias_count: int = 0
    size: int = 1
    source: SourceDocument | None = field(default=None, repr=False)
    key_sources: dict[str, SourceDocument] | None = None
    include: Node | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """Why a document belongs to the workflow of another one.

    :param message: a note, for example ``included here``.
    :param span: where that document names it; ``None`` where it does not.
    """

    message: str
    document: SourceDocument
    span: Span | None = None


@dataclass(frozen=True)
class SourceDocument:
    """The text of one file with the tree read from it.

    :param name: how diagnostics call the file.
    :param root: ``None`` when the text could not be read as YAML.
    :param use: why it was read, ``None`` for the workflow's own file.
    :param is_private: whether its lines may hold secrets and so are never shown.
    """

    name: str
    text: str
    root: Node | None = None
    use: Use | None = field(default=None, compare=False, repr=False)
    is_private: bool = False

    @property
    def value(self) -> Any:  # noqa: ANN401  # any JSON value
        """The whole document as plain Python values."""
        return None if self.root is None else self.root.value

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines without their ends."""
        return LINE_BREAK.split(self.text)

    def locate(self, path: Path, part: Part = "value", fragment: Fragment | None = None) -> Span:
        """Return where ``path`` stands, in this document or the one that :meth:`find` names."""
        return self.find(path, part, fragment)[1]

    def find(
        self, path: Path, part: Part = "value", fragment: Fragment | None = None
    ) -> tuple[SourceDocument, Span]:
        """Return in which document and where in its text ``path`` stands.

        A path that does not exist resolves to its nearest existing ancestor, so that a missing
        key is reported at the mapping that lacks it.

        :param part: point at the key, or at the value; only entries of mappings have a key.
        :param fragment: point at this piece of a string value. It is searched in the raw text of
            the scalar; where YAML escapes hide it, the whole scalar is meant.
        """
        node, document = self.root, self
        if node is None:
            return self, Span(1, 1, 1, 1)
        if node.source is not None:
            document = node.source
        key: tuple[SourceDocument, Span] | None = None
        for item in path:
            child = node.children.get(item)
            if child is None:
                return document, node.span
            key = None
            if isinstance(item, str):
                key = (node.key_sources or {}).get(item, document), node.key_spans[item]
            node, document = child, child.source or document
        if part == "key" and key is not None:
            return key
        if fragment is not None and fragment.text.strip():
            return document, document.find_fragment(fragment, node) or node.span
        return document, node.span

    def find_fragment(self, fragment: Fragment, node: Node) -> Span | None:
        """Return where a piece of a scalar's value stands, ``None`` where YAML hides it."""
        start = node.start
        if node.is_block_scalar:
            # The header, as in "key: >-  # why", is no part of the value.
            header_end = LINE_BREAK.search(self.text, start, node.end)
            start = header_end.end() if header_end else node.end
        matches = _as_written(fragment.text).finditer(self.text, start, node.end)
        for index, match in enumerate(matches):
            if index == fragment.occurrence:
                return self.span_between(match.start(), match.end())
        return None

    def span_between(self, start: int, end: int) -> Span:
        """Return the span from one index in the text up to another."""
        line, column = self._position(start)
        end_line, end_column = self._position(end)
        return Span(line, column, end_line, end_column)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in LINE_BREAK.finditer(self.text))]

    def _position(self, index: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, index)
        return line, index - self._line_starts[line - 1] + 1


def _as_written(text: str) -> re.Pattern[str]:
    """Return a pattern for the ways in which YAML may write ``text`` in a scalar.

    White space matches any white space, also the escapes of double-quoted strings, since folding
    and indentation change it.
    """
    words = [
        "".join(_ESCAPED.get(character) or re.escape(character) for character in word)
        for word in _WHITE_SPACE.split(text.strip())
    ]
    return re.compile(r"(?:\s|\\[nt\r\n ])+".join(words))
