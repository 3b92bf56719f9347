"""Builds the tree of one YAML document from the parser's events. Has state while it does.

Our own and not PyYAML's composer, which loses duplicate keys, expands alias bombs, and recurses
without limit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from yaml import events as yaml_events

from mantle_provider.diagnostics.diagnostic import Related
from mantle_provider.diagnostics.wording import quote, suggest
from mantle_provider.source.document import LINE_BREAK, Node, Use
from mantle_provider.source.scalars import (
    TAG_PREFIX,
    ScalarError,
    has_leading_zero,
    resolve_plain,
    resolve_tagged,
)
from mantle_provider.source.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yaml.error import Mark

    from mantle_provider.diagnostics.findings import Findings
    from mantle_provider.source.document import SourceDocument
    from mantle_provider.source.inclusion import Inclusion
    from mantle_provider.source.span import Path

MAX_LEVELS = 100
MAX_ALIASES = 1000
MAX_ALIASED_NODES = 100_000
"""A second bound, since each of a thousand aliases may stand for a large value."""

TOO_DEEP = f"values are nested deeper than {MAX_LEVELS} levels"
UNQUOTED_TEMPLATE = (
    'YAML reads "{{" without quotes as a mapping; put the whole value in quotes: "{{ ... }}"'
)

INCLUDE_TAG = "!include"

_SCALAR_TAGS = {TAG_PREFIX + name for name in ("str", "int", "float", "bool", "null")}
_MERGE_KEY = "<<"
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")
_PLAIN = (None, "")
"""Style of a scalar without quotes, in PyYAML's own parser and in libyaml's."""

_Event: TypeAlias = Any
"""One of PyYAML's events; types-PyYAML leaves their fields untyped."""


@dataclass(frozen=True, slots=True)
class _Position:
    """A place in the text; index, line and column count from 0."""

    index: int
    line: int
    column: int


class LimitError(Exception):
    """The document is too deep or too large to be read on; the arguments are a diagnostic's."""

    def __init__(self, code: str, message: str, path: Path, span: Span) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path
        self.span = span


class Composer:
    """Turns events into :class:`~mantle_provider.source.document.Node` trees.

    What is wrong goes to ``findings``, and a value in its place, so that the rest is still read.

    :param document: the text, without its tree.
    :param inclusion: what reads other files; ``None`` where there is no folder to read from.
    :param level: the level of the root, counted through the files that include this one.
    """

    def __init__(
        self,
        events: Iterator[_Event],
        document: SourceDocument,
        findings: Findings,
        inclusion: Inclusion | None = None,
        level: int = 1,
    ) -> None:
        self._events = events
        self._file = document
        self._text = document.text
        self._findings = findings
        self._inclusion = inclusion
        self._level = level
        self._anchors: dict[str, Node | None] = {}
        self._open_anchors = 0
        self.starts: list[Span] = []

    def compose(self) -> list[Node]:
        """Return the root of every document.

        :raises yaml.YAMLError: the text is not YAML.
        :raises LimitError: more levels or aliases than are read.
        """
        return [
            self._document(event)
            for event in self._events
            if isinstance(event, yaml_events.DocumentStartEvent)
        ]

    def _document(self, start: _Event) -> Node:
        self._anchors.clear()
        self.starts.append(_span(start.start_mark, start.end_mark))
        return self._node(next(self._events), (), self._level)

    def _node(self, event: _Event, path: Path, level: int) -> Node:
        if isinstance(event, yaml_events.AliasEvent):
            return self._alias(event, path)
        if level > MAX_LEVELS:
            raise LimitError("too-deep", TOO_DEEP, (), _span(event.start_mark, event.end_mark))
        if event.anchor is not None:
            # Known but unfinished: an alias to it before its end would never stop.
            self._anchors[event.anchor] = None
            self._open_anchors += 1
        if event.tag == INCLUDE_TAG:
            node = self._include(event, path, level)
        elif isinstance(event, yaml_events.ScalarEvent):
            node = self._scalar(event, path)
        elif isinstance(event, yaml_events.SequenceStartEvent):
            node = self._sequence(event, path, level)
        else:
            node = self._mapping(event, path, level)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
            self._open_anchors -= 1
        return node

    def _include(self, event: _Event, path: Path, level: int) -> Node:
        """Return what the named file holds, with the scalar that names it."""
        if isinstance(event, yaml_events.CollectionStartEvent):
            message = f"{quote(INCLUDE_TAG)} takes the path of a file"
            is_list = isinstance(event, yaml_events.SequenceStartEvent)
            node = (self._sequence if is_list else self._mapping)(event, path, level)
            self._error("invalid-include", message, path, node.span)
            return node
        start, end = self._start_of(event), event.end_mark
        scalar = Node(None, _span(start, end), start.index, end.index)
        inclusion = self._inclusion
        if inclusion is None:
            message = "only workflows and defaults in a folder can include other files"
            self._error("invalid-include", message, path, scalar.span)
            return scalar
        # What an anchor stands for may be used where the fragment is.
        if not self._open_anchors and not inclusion.is_wanted(path):
            return scalar
        use = Use("included here", self._file, scalar.span)
        included = inclusion.include(event.value, use, path, level + 1, self._findings)
        return replace(included or scalar, include=scalar)

    def _alias(self, event: _Event, path: Path) -> Node:
        span = _span(event.start_mark, event.end_mark)
        target = self._anchors.get(event.anchor)
        if target is not None:
            return replace(target, alias_count=target.alias_count + 1)
        name = quote(event.anchor)
        if event.anchor in self._anchors:
            self._error("recursive-alias", f"alias {name} stands inside its own anchor", path, span)
        else:
            ending = suggest(event.anchor, self._anchors, none="no anchor is defined before it")
            message = f"alias {name} has no anchor before it{ending}"
            self._error("unknown-anchor", message, path, span)
        return Node(None, span, event.start_mark.index, event.end_mark.index, alias_count=1)

    def _scalar(self, event: _Event, path: Path) -> Node:
        start, end = self._start_of(event), event.end_mark
        is_block = event.style in ("|", ">")
        node = Node(event.value, _span(start, end), start.index, end.index, is_block)
        if is_block:
            self._trim(node, start)
        if event.style not in _PLAIN and event.tag is None:
            return node
        try:
            node.value = self._scalar_value(event, path, node.span)
        except ScalarError as error:
            node.value = 0
            self._error("invalid-scalar", f"{quote(event.value)} {error}", path, node.span)
        return node

    def _scalar_value(self, event: _Event, path: Path, span: Span) -> Any:  # noqa: ANN401  # Scalar
        if event.tag is None:
            if has_leading_zero(event.value):
                octal = event.value.lstrip("0") or "0"
                self._findings.warning(
                    "leading-zero",
                    f"{quote(event.value)} is the decimal number {int(event.value)};"
                    f' write "0o{octal}" for an octal number, or put it in quotes',
                    path,
                    span=span,
                )
            return resolve_plain(event.value)
        if event.tag in _SCALAR_TAGS:
            return resolve_tagged(event.value, event.tag.removeprefix(TAG_PREFIX))
        if event.tag != "!":
            self._unsupported_tag(event, path)
        return event.value

    def _unsupported_tag(self, event: _Event, path: Path) -> None:
        tag = event.tag.replace(TAG_PREFIX, "!!")
        end = event.start_mark.index + len(tag)
        is_written = self._text[event.start_mark.index : end] == tag
        start = event.start_mark
        width = len(tag) if is_written else 1
        span = Span(start.line + 1, start.column + 1, start.line + 1, start.column + 1 + width)
        message = f"tag {quote(tag)} is not supported; values are plain JSON: remove the tag"
        self._error("unsupported-tag", message, path, span)

    def _sequence(self, event: _Event, path: Path, level: int) -> Node:
        if event.tag not in (None, "!", TAG_PREFIX + "seq", INCLUDE_TAG):
            self._unsupported_tag(event, path)
        values: list[Any] = []
        node = self._collection(event, values)
        while not isinstance(item := next(self._events), yaml_events.SequenceEndEvent):
            child = self._node(item, (*path, len(values)), level + 1)
            node.children[len(values)] = child
            values.append(child.value)
        self._close(node, item, path, is_flow=event.flow_style)
        return node

    def _mapping(self, event: _Event, path: Path, level: int) -> Node:
        if event.tag not in (None, "!", TAG_PREFIX + "map", INCLUDE_TAG):
            self._unsupported_tag(event, path)
        node = self._collection(event, {})
        merged: list[tuple[Node, Span]] = []
        while not isinstance(key_event := next(self._events), yaml_events.MappingEndEvent):
            is_template = self._is_unquoted_template(key_event)
            key = self._node(key_event, path, level + 1)
            is_merge = key.value == _MERGE_KEY and getattr(key_event, "style", "'") in _PLAIN
            is_entry = isinstance(key.value, str) and not is_merge
            child_path = (*path, key.value) if is_entry else path
            child = self._node(next(self._events), child_path, level + 1)
            node.alias_count += key.alias_count
            if is_template:
                self._unquoted_template(path, key.span)
            elif is_merge:
                merged.append((child, key.span))
            elif isinstance(key.value, str):
                self._enter(node, key, child, path)
            else:
                self._non_string_key(key, path)
        for other, key_span in merged:
            self._merge(node, other, path, key_span)
        self._close(node, key_event, path, is_flow=event.flow_style)
        return node

    def _enter(self, node: Node, key: Node, child: Node, path: Path) -> None:
        name = key.value
        if name in node.value:
            first = Related("first defined here", (*path, name), span=node.key_spans[name])
            message = f"key {quote(name)} is defined twice in one mapping"
            self._error("duplicate-key", message, (*path, name), key.span, related=(first,))
            return
        node.value[name] = child.value
        node.children[name] = child
        node.key_spans[name] = key.span

    def _non_string_key(self, key: Node, path: Path) -> None:
        if isinstance(key.value, dict | list):
            message = "a key must be a string, not a mapping or a list"
        else:
            written = self._text[key.start : key.end]
            message = f"key {quote(written)} must be a string; put it in quotes"
        self._error("non-string-key", message, path, key.span)

    def _merge(self, node: Node, other: Node, path: Path, key_span: Span) -> None:
        """Take over what ``<<`` names; the mapping's own keys and earlier merges win."""
        sources = list(other.children.values()) if isinstance(other.value, list) else [other]
        node.alias_count += other.alias_count
        node.size += other.size
        for source in sources:
            if source.value is None and source.include is not None:
                # Nothing could be included, which has been reported.
                continue
            if not isinstance(source.value, dict):
                message = '"<<" merges a mapping or a list of mappings'
                self._error("invalid-merge", message, path, key_span)
                return
            for name, value in source.value.items():
                if name not in node.value:
                    node.value[name] = value
                    node.key_spans[name] = source.key_spans[name]
                    node.children[name] = source.children[name]
            if source.source is not None or source.key_sources is not None:
                self._note_sources(node, source)

    def _note_sources(self, node: Node, merged: Node) -> None:
        """Say of merged keys and values that they stand in another file."""
        sources = merged.key_sources or {}
        for name, child in merged.children.items():
            if node.children[name] is not child:
                continue
            source = child.source or merged.source
            node.children[name] = replace(child, source=source, include=None)
            if key_source := sources.get(str(name), merged.source):
                node.key_sources = {**(node.key_sources or {}), str(name): key_source}

    def _collection(self, event: _Event, value: Any) -> Node:  # noqa: ANN401  # a list or dict
        start = self._start_of(event)
        span = _span(start, event.end_mark)
        return Node(value, span, start.index, start.index, children={}, key_spans={})

    def _close(self, node: Node, last: _Event, path: Path, *, is_flow: bool) -> None:
        """Set the end of a collection, which for a block is the end of its last entry."""
        node.end = last.end_mark.index
        span, end = node.span, last.end_mark
        if is_flow:
            node.span = Span(span.line, span.column, end.line + 1, end.column + 1)
        elif (tail := _last_written(node)) is not None:
            node.end = tail.end
            node.span = Span(span.line, span.column, tail.span.end_line, tail.span.end_column)
        for child in node.children.values():
            node.alias_count += child.alias_count
            node.size += child.size
        if node.alias_count > MAX_ALIASES or (node.alias_count and node.size > MAX_ALIASED_NODES):
            message = (
                f"aliases stand for too many values: at most {MAX_ALIASES} aliases,"
                f" and with them {MAX_ALIASED_NODES} values, are read"
            )
            raise LimitError("too-many-aliases", message, path, node.span)

    def _start_of(self, event: _Event) -> Mark | _Position:
        """Return where a value begins, after its anchor and its tag."""
        start: Mark = event.start_mark
        if event.anchor is None and event.tag is None:
            return start
        match = _PROPERTIES.match(self._text, start.index)
        if match is None or match.end() > event.end_mark.index:
            return start
        breaks = list(LINE_BREAK.finditer(match.group()))
        column = len(match.group()) - breaks[-1].end() if breaks else start.column + len(match[0])
        return _Position(match.end(), start.line + len(breaks), column)

    def _trim(self, node: Node, start: Mark | _Position) -> None:
        """End a block scalar with its last text, not with the line on which the next token is."""
        raw = self._text[node.start : node.end].rstrip()
        node.end = node.start + len(raw)
        breaks = list(LINE_BREAK.finditer(raw))
        end_column = len(raw) - breaks[-1].end() + 1 if breaks else start.column + 1 + len(raw)
        end_line = start.line + 1 + len(breaks)
        node.span = Span(start.line + 1, start.column + 1, end_line, end_column)

    def _is_unquoted_template(self, event: _Event) -> bool:
        """Whether a key is the inner braces of ``{{ x }}``, which YAML reads as a mapping."""
        index = event.start_mark.index
        return self._text[index - 1 : index + 1] == "{{"

    def _unquoted_template(self, path: Path, key_span: Span) -> None:
        span = Span(key_span.line, key_span.column - 1, key_span.end_line, key_span.end_column + 1)
        self._error("unquoted-template", UNQUOTED_TEMPLATE, path, span)

    def _error(self, code: str, message: str, path: Path, span: Span, **more: Any) -> None:  # noqa: ANN401  # Diagnostic types them
        self._findings.error(code, message, path, span=span, **more)


def _last_written(node: Node) -> Node | None:
    """Return the child that ends last in this file: of an included one, the file's name.

    ``None`` where all of them stand elsewhere, or under an anchor before the collection.
    """
    last = None
    for child in node.children.values():
        written = child.include or (child if child.source is None else None)
        if written is None or written.start < node.start:
            continue
        if last is None or written.end > last.end:
            last = written
    return last


def _span(start: Mark | _Position, end: Mark) -> Span:
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)
