"""Every function an expression may call: its forms, for the checker, and what it does.

To add one: write it in ``standard`` or ``mantle``, add a row here and a section to
``docs/reference/expressions.md``. Operators are not here, nor is ``default``, which sees its
argument's failure and is compiled by ``compiler``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mantle_provider.expressions import go_layouts, mantle, standard, time_text
from mantle_provider.expressions.faults import EvaluationError
from mantle_provider.expressions.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    LIST,
    MAP,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    CelType,
    list_of,
    map_of,
)
from mantle_provider.expressions.values import Value, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function.

    :param parameters: for a member, the first is what stands before the dot.
    """

    parameters: tuple[CelType, ...]
    result: CelType
    implementation: Callable[..., Value]
    is_member: bool = False

    def takes(self, values: Sequence[Value]) -> bool:
        """Whether adopted values have the types of the parameters."""
        return len(values) == len(self.parameters) and all(
            parameter is DYN or parameter.name == kind_of(value)
            for parameter, value in zip(self.parameters, values, strict=True)
        )


def call(name: str, overloads: Sequence[Overload], values: Sequence[Value]) -> Value:
    """Call the overload that takes ``values``.

    :raises EvaluationError: there is none, or the function failed.
    """
    for overload in overloads:
        if overload.takes(values):
            return overload.implementation(*values)
    kinds = ", ".join(map(kind_of, values))
    raise EvaluationError(f"{name}() cannot take ({kinds})")


def _identity(value: Value) -> Value:
    return value


def _conversion(
    result: CelType, implementations: Mapping[CelType, Callable[[Value], Value]]
) -> tuple[Overload, ...]:
    same = Overload((result,), result, _identity)
    others = (Overload((source,), result, function) for source, function in implementations.items())
    return (same, *others)


def _members(
    parameters: tuple[CelType, ...], result: CelType, implementation: Callable[..., Value]
) -> tuple[Overload, ...]:
    return (Overload(parameters, result, implementation, is_member=True),)


def _functions(
    parameters: tuple[CelType, ...], result: CelType, implementation: Callable[..., Value]
) -> tuple[Overload, ...]:
    return (Overload(parameters, result, implementation),)


def _timestamp_part(part: Callable[..., int]) -> tuple[Overload, ...]:
    return (
        Overload((TIMESTAMP,), INT, part, is_member=True),
        Overload((TIMESTAMP, STRING), INT, part, is_member=True),
    )


_SIZE = tuple(
    Overload((sized,), INT, len, is_member=is_member)
    for sized in (STRING, BYTES, LIST, MAP)
    for is_member in (False, True)
)
_MATCHES = tuple(
    Overload((STRING, STRING), BOOL, standard.matches, is_member=is_member)
    for is_member in (False, True)
)
_MAX_PAIRS = 5

FUNCTIONS: dict[str, tuple[Overload, ...]] = {
    # CEL language definition, "Standard Definitions".
    "bool": _conversion(BOOL, {STRING: standard.bool_from_string}),
    "bytes": _conversion(BYTES, {STRING: standard.bytes_from_string}),
    "contains": _members((STRING, STRING), BOOL, str.__contains__),
    "double": _conversion(DOUBLE, {INT: float, UINT: float, STRING: standard.double_from_string}),
    "duration": _conversion(
        DURATION, {STRING: standard.duration_from_string, INT: standard.duration_from_int}
    ),
    "dyn": _functions((DYN,), DYN, _identity),
    "endsWith": _members((STRING, STRING), BOOL, str.endswith),
    "getDate": _timestamp_part(standard.get_date),
    "getDayOfMonth": _timestamp_part(standard.get_day_of_month),
    "getDayOfWeek": _timestamp_part(standard.get_day_of_week),
    "getDayOfYear": _timestamp_part(standard.get_day_of_year),
    "getFullYear": _timestamp_part(standard.get_full_year),
    "getHours": (
        *_timestamp_part(standard.get_hours),
        *_members((DURATION,), INT, standard.duration_hours),
    ),
    "getMilliseconds": (
        *_timestamp_part(standard.get_milliseconds),
        *_members((DURATION,), INT, standard.duration_milliseconds),
    ),
    "getMinutes": (
        *_timestamp_part(standard.get_minutes),
        *_members((DURATION,), INT, standard.duration_minutes),
    ),
    "getMonth": _timestamp_part(standard.get_month),
    "getSeconds": (
        *_timestamp_part(standard.get_seconds),
        *_members((DURATION,), INT, standard.duration_seconds),
    ),
    "int": _conversion(
        INT,
        {
            UINT: standard.int_from_uint,
            DOUBLE: standard.int_from_double,
            STRING: standard.int_from_string,
            TIMESTAMP: standard.int_from_timestamp,
            DURATION: standard.int_from_duration,
        },
    ),
    "matches": _MATCHES,
    "size": _SIZE,
    "startsWith": _members((STRING, STRING), BOOL, str.startswith),
    "string": _conversion(
        STRING,
        dict.fromkeys((BOOL, INT, UINT, DOUBLE, TIMESTAMP, DURATION), standard.string_from_scalar)
        | {BYTES: standard.string_from_bytes},
    ),
    "timestamp": _conversion(
        TIMESTAMP, {STRING: standard.timestamp_from_string, INT: standard.timestamp_from_int}
    ),
    "type": _functions((DYN,), TYPE, standard.type_of),
    "uint": _conversion(
        UINT,
        {
            INT: standard.uint_from_int,
            DOUBLE: standard.uint_from_double,
            STRING: standard.uint_from_string,
        },
    ),
    # Mantle's own (reference 2.6).
    "flatten": _functions((LIST,), LIST, mantle.flatten),
    "formatTimestamp": _functions((TIMESTAMP, STRING), STRING, go_layouts.format_timestamp),
    "jsonDecode": _functions((STRING,), DYN, mantle.json_decode),
    "jsonEncode": _functions((DYN,), STRING, mantle.json_encode),
    "obj": tuple(
        Overload((STRING, DYN) * pairs, map_of(STRING, DYN), mantle.obj)
        for pairs in range(1, _MAX_PAIRS + 1)
    ),
    "parseFloat": _functions((STRING,), DOUBLE, mantle.parse_float),
    "parseInt": _functions((STRING,), INT, mantle.parse_int),
    "parseTimestamp": _functions((STRING,), TIMESTAMP, time_text.parse_timestamp),
    "replace": _members((STRING, STRING, STRING), STRING, mantle.replace),
    "split": _members((STRING, STRING), list_of(STRING), mantle.split),
    "toLower": _members((STRING,), STRING, mantle.to_lower),
    "toString": _functions((DYN,), STRING, mantle.to_string),
    "toUpper": _members((STRING,), STRING, mantle.to_upper),
    "trim": _members((STRING,), STRING, mantle.trim),
}
