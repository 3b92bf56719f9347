"""What a plain scalar means: the core schema of YAML 1.2 (section 10.3.2), and nothing else.

So ``yes``, ``on``, ``12:30`` and ``2024-01-01`` are strings, and only ``0o17`` is octal.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Scalar: TypeAlias = bool | int | float | str | None

TAG_PREFIX = "tag:yaml.org,2002:"

_CONSTANTS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_START = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS = 20
"""Longer than any integer of 64 bits, and far below where Python refuses to read it."""


class ScalarError(ValueError):
    """A scalar that has no JSON value; ``str()`` completes ``<text> ...``."""


def resolve_plain(text: str) -> Scalar:
    """Return the value of a plain scalar without a tag.

    :raises ScalarError: not a finite number, or an integer of more than 64 bits.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in _NUMBER_START:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return _finite(text)
    if _NOT_FINITE.fullmatch(text):
        raise ScalarError("is not a finite number; JSON has none of the kind")
    return text


def resolve_tagged(text: str, tag: str) -> Scalar:
    """Return the value of a scalar with one of YAML's own tags, for example ``!!int``.

    :param tag: the tag without YAML's prefix: ``str``, ``int``, ``float``, ``bool`` or ``null``.
    :raises ScalarError: the text is not what its tag says.
    """
    if tag == "str":
        return text
    value = resolve_plain(text)
    types: dict[str, type] = {"int": int, "float": float, "bool": bool, "null": type(None)}
    if tag == "float" and type(value) is int:
        return float(value)
    if type(value) is not types[tag]:
        raise ScalarError(f"is not what its tag !!{tag} says")
    return value


def has_leading_zero(text: str) -> bool:
    """Whether a plain scalar is a decimal number that YAML 1.1 would read as octal."""
    return len(text) > 1 and text[0] == "0" and text.isdecimal()


def _integer(text: str) -> int:
    digits = text.lstrip("+-")
    if len(digits.lstrip("0")) <= _MAX_DIGITS:
        value = int(text, 10 if digits.isdecimal() else 0)
        if -(2**63) <= value < 2**63:
            return value
    raise ScalarError("is an integer of more than 64 bits; put it in quotes")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ScalarError("is too large for a number of 64 bits; put it in quotes")
    return value
