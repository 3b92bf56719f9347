"""CEL's standard functions (CEL language definition, "Standard Definitions").

Arguments have the types that ``functions`` declares. Failures say what is wrong with the value
and never what it is.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mantle_provider.expressions import text, time_text
from mantle_provider.expressions.faults import EvaluationError
from mantle_provider.expressions.timestamps import NANOSECONDS, Duration, Timestamp
from mantle_provider.expressions.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    TypeValue,
    Uint,
    Value,
    type_value_of,
)

if TYPE_CHECKING:
    from datetime import datetime

# Go's ``strconv.ParseBool``.
_BOOLS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)
_INTEGER = re.compile(r"[+-]?(?P<digits>[0-9]+)")
# Longer ones are out of range; Python refuses to convert thousands of digits.
_MAX_DIGITS = 20
_HEX_DOUBLE = re.compile(r"[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?[0-9]+")


def bool_from_string(value: str) -> bool:
    """Convert a string as Go does."""
    if value not in _BOOLS:
        raise EvaluationError('bool() needs "true" or "false"')
    return _BOOLS[value]


def utf_8(value: str) -> bytes:
    """Return a string's bytes, with ``?`` for half a surrogate pair, which has none."""
    return value.encode("utf-8", "replace")


bytes_from_string = utf_8


def string_from_bytes(value: bytes) -> str:
    """Convert UTF-8."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise EvaluationError("string() needs bytes that are UTF-8") from None


def string_from_scalar(value: Value) -> str:
    """Convert as templates do."""
    return text.text_of(value)


def parse_integer(function: str, value: str, smallest: int, largest: int) -> int:
    """Read a decimal integer with an optional sign, as Go's ``strconv.ParseInt``."""
    match = _INTEGER.fullmatch(value)
    if match is None:
        raise EvaluationError(f"{function}() needs a whole number in decimal digits")
    digits = match["digits"].lstrip("0")
    if len(digits) <= _MAX_DIGITS:
        number = int(digits or "0")
        number = -number if value.startswith("-") else number
        if smallest <= number <= largest:
            return number
    raise EvaluationError(f"{function}(): the number is out of range")


def int_from_string(value: str) -> int:
    """Convert decimal digits."""
    return parse_integer("int", value, MIN_INT, MAX_INT)


def int_from_uint(value: Uint) -> int:
    """Convert, if it fits."""
    if value > MAX_INT:
        raise EvaluationError("int(): the number is out of range")
    return int(value)


def int_from_double(value: float) -> int:
    """Cut toward zero; the ends of the range are out of it, as in cel-go."""
    if not float(MIN_INT) < value < float(MAX_INT):
        raise EvaluationError("int(): the number is out of range")
    return int(value)


def int_from_timestamp(value: Timestamp) -> int:
    """Return the seconds since 1970."""
    return value.nanoseconds // NANOSECONDS


def int_from_duration(value: Duration) -> int:
    """Return the nanoseconds."""
    return value.nanoseconds


def uint_from_int(value: int) -> Uint:
    """Convert, if it is not negative."""
    if value < 0:
        raise EvaluationError("uint(): the number is out of range")
    return Uint(value)


def uint_from_double(value: float) -> Uint:
    """Cut toward zero."""
    if not 0 <= value < float(MAX_UINT):
        raise EvaluationError("uint(): the number is out of range")
    return Uint(int(value))


def uint_from_string(value: str) -> Uint:
    """Convert decimal digits without a sign."""
    if value[:1] in ("+", "-"):
        raise EvaluationError("uint() needs a whole number without a sign")
    return Uint(parse_integer("uint", value, 0, MAX_UINT))


def parse_double(function: str, value: str) -> float:
    """Read a double as Go's ``strconv.ParseFloat``: also ``inf``, ``NaN``, ``0x1p-2``, ``1_0``."""
    is_plain = value.isascii() and value == value.strip() and value != ""
    try:
        if _HEX_DOUBLE.fullmatch(value):
            return float.fromhex(value)
        number = float(value if is_plain else "")
    except ValueError:
        raise EvaluationError(f"{function}() needs a number") from None
    except OverflowError:
        number = math.inf
    if math.isinf(number) and "inf" not in value.lower():
        raise EvaluationError(f"{function}(): the number is out of range")
    return number


def double_from_string(value: str) -> float:
    """Convert a number in any of Go's forms."""
    return parse_double("double", value)


def duration_from_string(value: str) -> Duration:
    """Convert Go's form of durations."""
    return time_text.parse_duration(value)


def duration_from_int(value: int) -> Duration:
    """Convert nanoseconds."""
    return Duration(value)


def timestamp_from_string(value: str) -> Timestamp:
    """Convert RFC 3339 and nothing else."""
    return time_text.parse_rfc_3339(value)


def timestamp_from_int(value: int) -> Timestamp:
    """Convert seconds since 1970."""
    return Timestamp(value * NANOSECONDS)


def type_of(value: Value) -> TypeValue:
    """Return the value's type as a value."""
    return type_value_of(value)


@lru_cache(maxsize=256)
def _regular_expression(pattern: str) -> Value:
    import re2  # noqa: PLC0415  # a native module that few expressions need

    options = re2.Options()
    # It would print the pattern, which may come from a context, to standard error.
    options.log_errors = False
    return re2.compile(pattern, options)


def matches(value: str, pattern: str) -> bool:
    """Whether the RE2 pattern matches anywhere in the string, in linear time."""
    import re2  # noqa: PLC0415  # loaded with the first pattern

    try:
        expression = _regular_expression(utf_8(pattern).decode())
    except re2.error:
        raise EvaluationError("matches(): the pattern is no RE2 regular expression") from None
    return expression.search(utf_8(value).decode()) is not None


def _local(moment: Timestamp, zone: str) -> datetime:
    return time_text.in_zone(moment, zone)


def get_full_year(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the year."""
    return _local(moment, zone).year


def get_month(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the month, from 0."""
    return _local(moment, zone).month - 1


def get_date(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the day of the month, from 1."""
    return _local(moment, zone).day


def get_day_of_month(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the day of the month, from 0."""
    return _local(moment, zone).day - 1


def get_day_of_week(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the day of the week; Sunday is 0."""
    return _local(moment, zone).isoweekday() % 7


def get_day_of_year(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the day of the year, from 0."""
    return _local(moment, zone).timetuple().tm_yday - 1


def get_hours(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the hour, from 0."""
    return _local(moment, zone).hour


def get_minutes(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the minute."""
    return _local(moment, zone).minute


def get_seconds(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the second."""
    return _local(moment, zone).second


def get_milliseconds(moment: Timestamp, zone: str = "UTC") -> int:
    """Return the millisecond within the second; a zone is checked and changes nothing."""
    return _local(moment, zone).microsecond // 1000


def duration_hours(span: Duration) -> int:
    """Return the whole hours of the whole span."""
    return span.whole(3600 * NANOSECONDS)


def duration_minutes(span: Duration) -> int:
    """Return the whole minutes of the whole span."""
    return span.whole(60 * NANOSECONDS)


def duration_seconds(span: Duration) -> int:
    """Return the whole seconds of the whole span."""
    return span.whole(NANOSECONDS)


def duration_milliseconds(span: Duration) -> int:
    """Return the whole milliseconds of the whole span, as cel-go does."""
    return span.whole(NANOSECONDS // 1000)
