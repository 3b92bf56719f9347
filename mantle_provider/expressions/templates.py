"""Templates: where the expressions in a text begin and end (LANGUAGE, "Templates")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mantle_provider.expressions.faults import CompileError
from mantle_provider.expressions.tokens import Scanner, Source, Token

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_OPEN = "{{"
_CLOSE = "}}"


@dataclass(frozen=True, slots=True)
class Hole:
    """An expression in a template: its tokens, and the offsets of its text without braces."""

    tokens: tuple[Token, ...]
    start: int
    end: int


def has_template(text: str) -> bool:
    """Whether a text holds at least the beginning of an expression."""
    return _OPEN in text


def split_template(source: Source, names: Mapping[str, Collection[str]]) -> list[str | Hole]:
    """Return the parts of a template in order, without empty texts.

    The end of an expression is found by its tokens: ``}}`` in a string or in a map literal does
    not end it.

    :param names: declared names, as for :class:`~mantle_provider.expressions.tokens.Scanner`.
    :raises CompileError: an expression that does not end, or whose tokens CEL does not know.
    """
    text = source.text
    parts: list[str | Hole] = []
    position = 0
    while (opening := text.find(_OPEN, position)) >= 0:
        if opening > position:
            parts.append(text[position:opening])
        start = opening + len(_OPEN)
        try:
            tokens, end = Scanner(source, names).scan(start, is_template=True)
        except CompileError as error:
            error.expression = text[start:].partition(_CLOSE)[0].strip()
            raise
        if not text.startswith(_CLOSE, end):
            message = f'"{_OPEN}" is never closed, "{_CLOSE}" is missing'
            raise CompileError(message, source.span(opening, start), text[start:].strip())
        parts.append(Hole(tuple(tokens), start, end))
        position = end + len(_CLOSE)
    if position < len(text):
        parts.append(text[position:])
    return parts


def is_lone(parts: list[str | Hole]) -> bool:
    """Whether a template is one expression and nothing else, but for blanks around it."""
    holes = [part for part in parts if isinstance(part, Hole)]
    texts = [part for part in parts if isinstance(part, str)]
    return len(holes) == 1 and not "".join(texts).strip()
