"""The words for text that is not YAML at all: the parser's messages, translated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Related
from mantle_provider.source.composer import TOO_DEEP, UNQUOTED_TEMPLATE
from mantle_provider.source.document import LINE_BREAK
from mantle_provider.source.span import Span

if TYPE_CHECKING:
    import yaml
    from yaml.error import Mark

    from mantle_provider.diagnostics.findings import Findings

_UNQUOTED = re.compile(r"(?:^\s*|[:\-,\[]\s+)(\{\{.*)")
_INDENT_TAB = re.compile(r" *(\t)")

_WORDING = (
    ("could not find expected ':'", 'a key without its ":" or a value that must be indented'),
    (
        "mapping values are not allowed",
        'a ":" where no key can be; put a value that holds ": " in quotes',
    ),
    ("did not find expected ',' or ']'", 'a list in brackets lacks a "," or its "]"'),
    ("did not find expected ',' or '}'", 'a mapping in braces lacks a "," or its "}"'),
    ("did not find expected '-' indicator", 'a list entry lacks its "-" or has a wrong indent'),
    ("did not find expected key", "a key is expected here; is the line indented rightly?"),
    ("found unexpected end of stream", "a string in quotes has no end"),
    ("found unknown escape character", "an unknown escape in a string in double quotes"),
    ("block sequence entries are not allowed", 'a "-" cannot stand here; start the list below'),
    ("did not find expected <document start>", "only one value can stand at the top level"),
    ("did not find expected node content", "a value is expected here"),
    ("found undefined tag handle", "an undefined tag handle; values are plain JSON"),
    ("found character that cannot start any token", "this character must stand in quotes"),
)
"""Beginnings of libyaml's messages (scanner.c, parser.c), and what we say instead."""


def report_syntax_error(error: yaml.YAMLError, text: str, findings: Findings) -> None:
    """Report what the YAML parser raised, at its position and in our words."""
    lines = LINE_BREAK.split(text)
    mark: Mark | None = getattr(error, "problem_mark", None)
    context: Mark | None = getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    line, column = (0, 0) if mark is None else (mark.line, mark.column)
    if template := _find_unquoted_template(lines, line):
        if not any(_is_at(item.span, template) for item in findings.diagnostics):
            findings.error("unquoted-template", UNQUOTED_TEMPLATE, span=template)
    elif tab := _find_tab(lines, line):
        message = "a tab cannot indent YAML; use spaces"
        findings.error("tab-indentation", message, span=tab)
    elif problem.startswith("exceeded maximum nesting"):
        # Flow collections are scanned ahead, so libyaml's own limit may come first.
        span = Span(line + 1, column + 1, line + 1, column + 2)
        findings.error("too-deep", TOO_DEEP, span=span)
    else:
        line = min(line, len(lines) - 1)
        # At the end of the file there is nothing to point at: take the last line with text.
        while line > 0 and not lines[line].strip():
            line, column = line - 1, len(lines[line - 1].rstrip())
        span = Span(line + 1, column + 1, line + 1, column + 2)
        message = f"invalid YAML: {_translate(problem)}"
        related = _beginning(context, line)
        findings.error("invalid-yaml", message, span=span, related=related)


def _beginning(context: Mark | None, line: int) -> tuple[Related, ...]:
    """Return where the list, mapping or string begins in which the mistake is."""
    if context is None or context.line >= line:
        return ()
    span = Span(context.line + 1, context.column + 1, context.line + 1, context.column + 2)
    return (Related("what is wrong begins here", (), span=span),)


def _is_at(span: Span | None, other: Span) -> bool:
    return span is not None and (span.line, span.column) == (other.line, other.column)


def _translate(problem: str) -> str:
    for beginning, words in _WORDING:
        if problem.startswith(beginning):
            return words
    return problem


def _find_unquoted_template(lines: list[str], line: int) -> Span | None:
    """Return a value that begins with ``{{``, on a line or on the one before it."""
    for index in (line, line - 1):
        match = _UNQUOTED.search(lines[index]) if 0 <= index < len(lines) else None
        if match:
            return Span(index + 1, match.start(1) + 1, index + 1, match.end(1) + 1)
    return None


def _find_tab(lines: list[str], line: int) -> Span | None:
    match = _INDENT_TAB.match(lines[line]) if line < len(lines) else None
    if match is None:
        return None
    column = match.start(1) + 1
    return Span(line + 1, column, line + 1, column + 1)
