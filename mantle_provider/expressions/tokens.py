"""Tokens of CEL: where names, literals and operators stand in a text.

One scanner serves the parser, the search for the end of a template's expression and the
rewriting of dotted names. The installed cel-python lexes strings with regular expressions that
take exponential time on an unterminated one, and knows neither trailing commas nor quoted
fields, so its terminals are used by name only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from mantle_provider.expressions.faults import CompileError, Span

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# CEL language definition, "Syntax". A number's sign belongs to it only where no operand stands
# before it; the scanner decides that.
_TOKEN = re.compile(
    r"""
      (?P<blank>[\t\n\f\r ]+|//[^\n]*)
    | (?P<string>[bB]?[rR]?(?:\"\"\"|'''|"|'))
    | (?P<FLOAT_LIT>(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    | (?P<UINT_LIT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
    | (?P<INT_LIT>0x[0-9a-fA-F]+|[0-9]+)
    | (?P<word>[_a-zA-Z][_a-zA-Z0-9]*)
    | (?P<quoted>`[^`\n]*`)
    | (?P<operator>&&|\|\||==|!=|<=|>=|[-+*/%!?:.,()\[\]{}<>])
    """,
    re.VERBOSE,
)

# The rest of a string after its opening quote. The alternatives exclude each other, so the time
# is linear.
_STRING_ENDS = {
    '"': re.compile(r'[^"\\\n\r]*(?:\\[^\n\r][^"\\\n\r]*)*"'),
    "'": re.compile(r"[^'\\\n\r]*(?:\\[^\n\r][^'\\\n\r]*)*'"),
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""', re.DOTALL),
    "'''": re.compile(r"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''", re.DOTALL),
}
_RAW_STRING_ENDS = {
    '"': re.compile(r'[^"\n\r]*"'),
    "'": re.compile(r"[^'\n\r]*'"),
    '"""': re.compile(r'[^"]*(?:"(?!"")[^"]*)*"""'),
    "'''": re.compile(r"[^']*(?:'(?!'')[^']*)*'''"),
}

_QUOTED_FIELD = re.compile(r"`[a-zA-Z0-9_.\-/ ]+`")
_HYPHENATED_NAME = re.compile(r"[_a-zA-Z][_a-zA-Z0-9-]*")
_WORD_START = re.compile(r"[_a-zA-Z0-9]")
_KEYWORDS = {"true": "BOOL_LIT", "false": "BOOL_LIT", "null": "NULL_LIT", "in": "in"}
_LITERALS = frozenset(
    {"FLOAT_LIT", "UINT_LIT", "INT_LIT", "STRING_LIT", "MLSTRING_LIT", "BYTES_LIT"}
)
_OPERAND_ENDS = _LITERALS | {"IDENT", "BOOL_LIT", "NULL_LIT", ")", "]", "}"}

# What people write who come from another language.
_CHARACTER_HINTS = {
    "=": 'use "==" to compare',
    "&": 'use "&&" for "and"',
    "|": 'use "||" for "or"',
    ";": "an expression is one value",
    "$": 'write the name without "$"',
}


class Token(NamedTuple):
    """One token; ``kind`` is a terminal of cel-python's grammar or the operator itself.

    ``text`` is the token as written, for a field in backquotes and a declared dotted name the
    name alone. ``start`` and ``end`` count code points in the whole text.
    """

    kind: str
    text: str
    start: int
    end: int
    is_declared_name: bool = False


class Source:
    """A text and where its lines begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def locate(self, offset: int) -> tuple[int, int]:
        """Return line and column of ``offset``, both from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span of the part of one line that begins at ``start``."""
        line, column = self.locate(start)
        return Span(line, column, column + max(end - start, 1))


class Scanner:
    """Turn a text into tokens.

    :param names: declared names by root, for example ``{"steps": {"fetch-data"}}``: after the
        root and a dot, the longest of them is one field although it holds hyphens.
    """

    def __init__(self, source: Source, names: Mapping[str, Collection[str]]) -> None:
        self._source = source
        self._text = source.text
        self._names = names
        self._tokens: list[Token] = []
        # Each open bracket, with whether it opens a list or map, where a last comma is allowed.
        self._open: list[tuple[str, bool]] = []
        self._open_maps = 0

    def scan(self, start: int = 0, *, is_template: bool = False) -> tuple[list[Token], int]:
        """Return the tokens from ``start`` on, and where they end.

        :param is_template: stop at the first ``}}`` that closes no map literal.
        :return: tokens and the offset after the last of them, at the ``}}`` in a template; the
            length of the text if there is none.
        :raises CompileError: a character, number or string that CEL does not know.
        """
        position = start
        length = len(self._text)
        while position < length:
            if is_template and self._closes_template(position):
                break
            match = _TOKEN.match(self._text, position)
            if match is None:
                raise self._unknown_character(position)
            group = str(match.lastgroup)
            position = match.end()
            if group == "string":
                position = self._add_string(match)
            elif group == "word":
                position = self._add_word(match)
            elif group == "quoted":
                self._add_quoted(match)
            elif group == "operator":
                position = self._add_operator(match)
            elif group != "blank":
                self._add_number(group, match.start(), position)
        return self._tokens, position

    def _closes_template(self, position: int) -> bool:
        return self._open_maps == 0 and self._text.startswith("}}", position)

    def _add(self, kind: str, start: int, end: int) -> None:
        self._tokens.append(Token(kind, self._text[start:end], start, end))

    @property
    def _last_kind(self) -> str:
        return self._tokens[-1].kind if self._tokens else ""

    def _error(self, message: str, start: int, end: int) -> CompileError:
        return CompileError(message, self._source.span(start, end))

    def _add_string(self, match: re.Match[str]) -> int:
        prefix = match.group("string").rstrip("\"'").lower()
        quote = match.group("string")[len(prefix) :]
        ends = _RAW_STRING_ENDS if "r" in prefix else _STRING_ENDS
        end = ends[quote].match(self._text, match.end())
        if end is None:
            message = f"unterminated string, the closing {quote} is missing"
            raise self._error(message, match.start(), match.end())
        kind = "STRING_LIT" if len(quote) == 1 else "MLSTRING_LIT"
        self._add("BYTES_LIT" if "b" in prefix else kind, match.start(), end.end())
        return end.end()

    def _add_number(self, kind: str, start: int, end: int) -> None:
        if _WORD_START.match(self._text, end):
            word = _HYPHENATED_NAME.match(self._text, end)
            end = word.end() if word else end + 1
            raise self._error(f'invalid number "{self._text[start:end]}"', start, end)
        before = self._tokens[-2].kind if len(self._tokens) > 1 else ""
        if self._last_kind == "-" and before not in _OPERAND_ENDS:
            minus = self._tokens[-1]
            if minus.end == start:
                self._tokens.pop()
                start = minus.start
        self._add(kind, start, end)

    def _add_word(self, match: re.Match[str]) -> int:
        word = match.group()
        declared = self._declared_name(match.start())
        if declared is not None:
            end = match.start() + len(declared)
            self._tokens.append(Token("IDENT", declared, match.start(), end, is_declared_name=True))
            return end
        if word in _KEYWORDS and self._last_kind == ".":
            message = f'"{word}" is a keyword, write ["{word}"] to read a field of that name'
            raise self._error(message, match.start(), match.end())
        self._add(_KEYWORDS.get(word, "IDENT"), match.start(), match.end())
        return match.end()

    def _declared_name(self, start: int) -> str | None:
        """Return the longest declared name with a hyphen that stands at ``start``."""
        match self._tokens[-3:]:
            case [Token(kind="IDENT") as root, Token(kind=".")]:
                pass
            case [before, Token(kind="IDENT") as root, Token(kind=".")] if before.kind != ".":
                pass
            case _:
                return None
        run = _HYPHENATED_NAME.match(self._text, start)
        if run is None or root.text not in self._names:
            return None
        candidate = run.group()
        while candidate not in self._names[root.text]:
            candidate = candidate.rpartition("-")[0]
            if not candidate:
                return None
        return candidate if "-" in candidate else None

    def _add_quoted(self, match: re.Match[str]) -> None:
        if self._last_kind != "." or _QUOTED_FIELD.fullmatch(match.group()) is None:
            raise self._error('unexpected "`"', match.start(), match.start() + 1)
        name = match.group()[1:-1]
        self._tokens.append(Token("IDENT", name, match.start(), match.end()))

    def _add_operator(self, match: re.Match[str]) -> int:
        operator = match.group()
        if operator in ("(", "[", "{"):
            is_literal = operator != "(" and self._last_kind not in _OPERAND_ENDS
            self._open.append((operator, is_literal))
            self._open_maps += operator == "{"
        elif operator in (")", "]", "}") and self._open:
            opening, is_literal = self._open.pop()
            self._open_maps -= opening == "{"
            if is_literal and self._last_kind == "," and self._tokens[-2].kind not in ("[", "{"):
                self._tokens.pop()
        self._add(operator, match.start(), match.end())
        return match.end()

    def _unknown_character(self, position: int) -> CompileError:
        character = self._text[position]
        hint = _CHARACTER_HINTS.get(character)
        message = f'unexpected "{character}"'
        if hint is not None:
            message = f"{message}, {hint}"
        return self._error(message, position, position + 1)
