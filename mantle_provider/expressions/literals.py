"""The values of literals, from their text (CEL language definition, "Values")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mantle_provider.expressions.types import BOOL, BYTES, DOUBLE, INT, NULL, STRING, UINT, CelType
from mantle_provider.expressions.values import MAX_INT, MAX_UINT, MIN_INT, Uint

if TYPE_CHECKING:
    from collections.abc import Callable

_SIMPLE_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "?": "?",
    '"': '"',
    "'": "'",
    "`": "`",
}
_ESCAPE = re.compile(
    r"\\(?:(?P<hex>[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(?P<octal>[0-3][0-7]{2})"
    r"|(?P<other>.))",
    re.DOTALL,
)
_MAX_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def read_literal(kind: str, text: str) -> tuple[object, CelType]:
    """Return the value and the type of a literal.

    :param kind: the terminal of cel-python's grammar.
    :raises ValueError: an unknown escape or a number out of range; the text says which.
    """
    read, cel_type = _READERS[kind]
    return read(text), cel_type


def _read_integer(text: str, smallest: int, largest: int) -> int:
    # More digits than any number in range has; Python refuses to convert thousands of them.
    longest = 64
    digits = text.lstrip("-")
    significant = digits.lstrip("0")
    if len(significant) <= longest:
        number = int(digits, 16 if digits.startswith("0x") else 10)
        number = -number if text.startswith("-") else number
        if smallest <= number <= largest:
            return number
    raise ValueError(f'the number "{text[:longest]}" is out of range')


def _split_quotes(text: str) -> tuple[bool, str]:
    is_raw = text[0] in "rR"
    quoted = text[1:] if is_raw else text
    width = 3 if len(quoted) >= 6 and quoted[:3] in ('"""', "'''") else 1  # noqa: PLR2004  # two triple quotes
    return is_raw, quoted[width:-width]


def _read_string(text: str) -> str:
    is_raw, body = _split_quotes(text)
    return body if is_raw or "\\" not in body else _ESCAPE.sub(_unescape, body)


def _unescape(match: re.Match[str]) -> str:
    if match["other"] is not None:
        if match["other"] not in _SIMPLE_ESCAPES:
            raise ValueError(f'unknown escape "{match.group()}" in a string')
        return _SIMPLE_ESCAPES[match["other"]]
    code = int(match["octal"], 8) if match["octal"] is not None else int(match["hex"][1:], 16)
    if code > _MAX_CODE_POINT or code in _SURROGATES:
        raise ValueError(f'the escape "{match.group()}" is no Unicode character')
    return chr(code)


def _read_bytes(text: str) -> bytes:
    is_raw, body = _split_quotes(text)
    if is_raw:
        return body.encode()
    result = bytearray()
    position = 0
    for match in _ESCAPE.finditer(body):
        result += body[position : match.start()].encode()
        result += _unescape_byte(match)
        position = match.end()
    return bytes(result + body[position:].encode())


def _unescape_byte(match: re.Match[str]) -> bytes:
    if match["hex"] is not None and match["hex"][0] in "uU":
        raise ValueError(f'unknown escape "{match.group()}" in bytes')
    return _unescape(match).encode("latin-1")


_READERS: dict[str, tuple[Callable[[str], object], CelType]] = {
    "BOOL_LIT": (lambda text: text == "true", BOOL),
    "NULL_LIT": (lambda _text: None, NULL),
    "INT_LIT": (lambda text: _read_integer(text, MIN_INT, MAX_INT), INT),
    "UINT_LIT": (lambda text: Uint(_read_integer(text[:-1], 0, MAX_UINT)), UINT),
    "FLOAT_LIT": (float, DOUBLE),
    "BYTES_LIT": (lambda text: _read_bytes(text[1:]), BYTES),
    "STRING_LIT": (_read_string, STRING),
    "MLSTRING_LIT": (_read_string, STRING),
}
