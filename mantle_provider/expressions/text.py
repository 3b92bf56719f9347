"""Texts of values: in templates, of ``string()`` and ``toString``, and as JSON."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mantle_provider.expressions.budgets import check_text_length
from mantle_provider.expressions.faults import EvaluationError
from mantle_provider.expressions.time_text import (
    go_duration,
    go_timestamp,
    rfc_3339,
    seconds_text,
)
from mantle_provider.expressions.timestamps import Duration, Timestamp
from mantle_provider.expressions.values import TypeValue, Value, adopt, kind_of

# From here on JSON, JavaScript and Go write an exponent (ECMA-262, Number::toString).
_FIRST_EXPONENT = 1e21
_LAST_SMALL_DIGITS = 1e-6
# Go's encoding/json keeps JSON harmless inside HTML.
_HTML_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def double_text(number: float) -> str:
    """Return the shortest digits that read back as the same double: ``3``, ``0.1``, ``1e-07``.

    No exponent below 1e21 (LANGUAGE, "Templates"); below 0.0001 one as Go and Python write it.
    """
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    text = repr(number)
    if "e+" in text and abs(number) < _FIRST_EXPONENT:
        digits, _, exponent = text.partition("e+")
        whole, _, fraction = digits.partition(".")
        return whole + fraction.ljust(int(exponent), "0")
    return text.removesuffix(".0")


def text_of(value: Value) -> str:
    """Return the text that a template puts in place of an expression."""
    match value:
        case str():
            return value
        case Timestamp():
            return rfc_3339(value)
        case Duration():
            return seconds_text(value)
        case bytes():
            return b64encode(value).decode()
        case list() | tuple() | Mapping():
            return _write(value, _TEMPLATE_JSON)
    return _scalar_text(value)


def text_form(value: Any) -> str:  # noqa: ANN401  # what an evaluation gives out
    """Return the text that a template would put in place of a plain value."""
    return text_of(adopt(value))


def _scalar_text(value: Value) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return double_text(value)
        case TypeValue():
            return value.name
    return str(int(value))


def go_text(value: Value) -> str:
    """Return the text of Mantle's ``toString``, which is Go's ``%v``.

    Null and large doubles are written as in templates, at every depth.
    """
    return _write(value, _GO)


def encode_json(value: Value) -> str:
    """Return Mantle's ``jsonEncode``: compact, keys sorted, ``<``, ``>`` and ``&`` escaped.

    :raises EvaluationError: a double that JSON cannot hold, or a type.
    """
    return _write(value, _MANTLE_JSON)


def _sorted_items(mapping: Mapping[Value, Value]) -> list[tuple[str, Value]]:
    """Return the items by the text of their keys, so that equal maps have equal texts."""
    items = [
        (key if type(key) is str else text_of(adopt(key)), adopt(mapping[key])) for key in mapping
    ]
    return sorted(items, key=lambda item: item[0])


def _go_leaf(value: Value) -> str:
    match value:
        case str():
            return value
        case Timestamp():
            return go_timestamp(value)
        case Duration():
            return go_duration(value)
        case bytes():
            return f"[{' '.join(map(str, value))}]"
    return _scalar_text(value)


def _template_leaf(value: Value) -> str:
    if isinstance(value, (str, bytes, Timestamp, Duration, TypeValue)):
        return json.dumps(text_of(value), ensure_ascii=False)
    return _number_json(value)


def _json_leaf(value: Value) -> str:
    if isinstance(value, Duration):
        return str(value.nanoseconds)
    if isinstance(value, TypeValue):
        raise EvaluationError(f"jsonEncode() cannot encode a value of type {kind_of(value)}")
    return _template_leaf(value).translate(_HTML_ESCAPES)


def _number_json(value: Value) -> str:
    if not isinstance(value, float):
        return _scalar_text(value)
    if not math.isfinite(value):
        raise EvaluationError("JSON has no infinity and no NaN")
    # Go's encoding/json: small numbers in digits as far as 1e-06, then without padding, 1e-7.
    text = double_text(value)
    if abs(value) >= _LAST_SMALL_DIGITS and "e-" in text:
        return format(Decimal(text), "f")
    return text.replace("e-0", "e-")


@dataclass(frozen=True, slots=True)
class _Form:
    """How lists, maps and what is in them are written.

    :param leaf: returns the text of a value that holds no others.
    :param key: returns the text of a key, from its text in templates.
    """

    separator: str
    map_opening: str
    map_closing: str
    leaf: Callable[[Value], str]
    key: Callable[[str], str]


_TEMPLATE_JSON = _Form(",", "{", "}", _template_leaf, _template_leaf)
_MANTLE_JSON = _Form(",", "{", "}", _json_leaf, _json_leaf)
_GO = _Form(" ", "map[", "]", _go_leaf, str)


def _write(value: Value, form: _Form) -> str:
    """Return the text of a value as long as it is not too long.

    Shared lists are small in memory and can be huge as text, so the pieces are counted.
    """
    pieces: list[str] = []
    length = 0

    def add(text: str) -> None:
        nonlocal length
        length += len(text)
        check_text_length(length)
        pieces.append(text)

    def add_value(value: Value) -> None:
        if isinstance(value, (list, tuple)):
            add("[")
            for index, item in enumerate(value):
                if index:
                    add(form.separator)
                add_value(adopt(item))
            add("]")
        elif isinstance(value, Mapping):
            add(form.map_opening)
            for index, (key, item) in enumerate(_sorted_items(value)):
                add(f"{form.separator if index else ''}{form.key(key)}:")
                add_value(item)
            add(form.map_closing)
        else:
            add(form.leaf(value))

    add_value(value)
    return "".join(pieces)
