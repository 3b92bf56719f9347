"""Values while an expression runs: plain Python, and classes for what Python has no type for.

bool, int, double, string, bytes, list, map and null are ``bool``, ``int``, ``float``, ``str``,
``bytes``, ``list`` or ``tuple``, any ``Mapping`` and ``None``. Only these, as exact types, reach
operators and functions: :func:`adopt` turns what a context holds into them when it is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from mantle_provider.expressions.budgets import MAX_RESULT_VALUES
from mantle_provider.expressions.faults import BudgetError, EvaluationError
from mantle_provider.expressions.timestamps import Duration, Timestamp

# Any value of an expression or a context; :func:`kind_of` tells which.
Value: TypeAlias = Any

MIN_INT = -(2**63)
MAX_INT = 2**63 - 1
MAX_UINT = 2**64 - 1


class Uint(int):
    """CEL's unsigned integer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value, which ``type(x)`` and the names of types yield."""

    name: str


# The names of types as an expression writes them.
TYPE_VALUES = {
    name: TypeValue(name)
    for name in (
        "bool",
        "bytes",
        "double",
        "google.protobuf.Duration",
        "google.protobuf.Timestamp",
        "int",
        "list",
        "map",
        "null_type",
        "string",
        "type",
        "uint",
    )
}

_KINDS: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null",
    list: "list",
    tuple: "list",
    dict: "map",
    Timestamp: "timestamp",
    Duration: "duration",
    TypeValue: "type",
}
# The base class's own conversion: ``str()`` of a string enumeration is not its value.
_BASES: dict[type, Callable[[Value], Value]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: lambda value: bytes(memoryview(value)),
}
_TYPE_NAMES = {
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
}


def kind_of(value: Value) -> str:
    """Return the static type's name for an adopted value, such as ``list`` or ``timestamp``."""
    return _KINDS.get(type(value)) or ("map" if isinstance(value, Mapping) else "list")


def type_value_of(value: Value) -> TypeValue:
    """Return what ``type(value)`` yields."""
    kind = kind_of(value)
    return TYPE_VALUES[_TYPE_NAMES.get(kind, kind)]


def adopt(value: Value) -> Value:
    """Return a context's value as a value of an expression; containers stay as they are.

    :raises EvaluationError: CEL has no type for it; the message names the Python type only.
    """
    if type(value) in _KINDS:
        return value
    if isinstance(value, (Mapping, list, tuple)):
        return value
    for base, convert in _BASES.items():
        if isinstance(value, base):
            return convert(value)
    if isinstance(value, datetime):
        return Timestamp.from_datetime(value)
    if isinstance(value, timedelta):
        return Duration.from_timedelta(value)
    if isinstance(value, Decimal):
        return float(value)
    raise EvaluationError(f'a value of type "{type(value).__name__}" cannot be used')


_EXPORTS: dict[type, Callable[[Value], Value]] = {
    Uint: int,
    TypeValue: lambda value: value.name,
    Timestamp: Timestamp.to_datetime,
    Duration: Duration.to_timedelta,
}


class _Export:
    """One result on its way out, with a count of the values in it."""

    def __init__(self) -> None:
        self._left = MAX_RESULT_VALUES

    def convert(self, value: Value) -> Value:
        self._left -= 1
        if self._left < 0:
            raise BudgetError(f"the result has more than {MAX_RESULT_VALUES} values")
        if value is None or type(value) in (str, int, bool, float, bytes):
            return value
        if isinstance(value, Mapping):
            return {_export_key(key): self.convert(value[key]) for key in value}
        if isinstance(value, list | tuple):
            return [self.convert(item) for item in value]
        adopted = adopt(value)
        to_python = _EXPORTS.get(type(adopted))
        return adopted if to_python is None else to_python(adopted)


def _export_key(key: Value) -> Value:
    return int(key) if type(key) is Uint else key


def export(value: Value) -> Value:
    """Return a value as plain Python that shares nothing mutable with the context.

    Only bool, int, float, str, bytes, list, dict, None, datetime and timedelta come out, at
    every depth. Times are cut to microseconds; a type becomes its name.

    :raises BudgetError: the result holds more than ``MAX_RESULT_VALUES`` values.
    """
    return _Export().convert(value)
