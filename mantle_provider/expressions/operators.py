"""CEL's operators on adopted values (CEL language definition, "Operators", and cel-go).

Every function here raises :class:`EvaluationError` where CEL has no overload, and names types
only: a message must not hold a value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping

from mantle_provider.expressions.budgets import check_list_length, check_text_length
from mantle_provider.expressions.faults import EvaluationError
from mantle_provider.expressions.timestamps import Duration, Timestamp
from mantle_provider.expressions.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    TypeValue,
    Uint,
    Value,
    adopt,
    kind_of,
)

_NUMBERS = (int, float, Uint)
# All types whose values hold no others; Python compares two of one type as CEL does.
_SCALARS = (str, bool, type(None), *_NUMBERS, bytes, Timestamp, Duration, TypeValue)
_MISSING = object()


def no_overload(name: str, *values: Value) -> EvaluationError:
    """Return the error for operands of the wrong types."""
    kinds = " and ".join(map(kind_of, values))
    return EvaluationError(f'"{name}" is not defined for {kinds}')


def _int(number: int) -> int:
    if MIN_INT <= number <= MAX_INT:
        return number
    raise EvaluationError("integer overflow")


def _uint(number: int) -> Uint:
    if 0 <= number <= MAX_UINT:
        return Uint(number)
    raise EvaluationError("unsigned integer overflow")


def add(left: Value, right: Value) -> Value:  # noqa: PLR0911  # one return per overload
    """Return ``left + right``."""
    kind = type(left)
    if kind is type(right):
        if kind is int:
            return _int(left + right)
        if kind is float:
            return left + right
        if kind is str or kind is bytes:
            check_text_length(len(left) + len(right))
            return left + right
        if kind is Uint:
            return _uint(int(left) + int(right))
        if kind is Duration:
            return Duration(left.nanoseconds + right.nanoseconds)
    match left, right:
        case list() | tuple(), list() | tuple():
            check_list_length(len(left) + len(right))
            return [*left, *right]
        case (Timestamp() as moment, Duration() as span) | (
            Duration() as span,
            Timestamp() as moment,
        ):
            return Timestamp(moment.nanoseconds + span.nanoseconds, moment.offset_seconds)
    raise no_overload("+", left, right)


def subtract(left: Value, right: Value) -> Value:
    """Return ``left - right``."""
    kind = type(left)
    if kind is type(right):
        if kind is int:
            return _int(left - right)
        if kind is float:
            return left - right
        if kind is Uint:
            return _uint(int(left) - int(right))
        if kind is Duration or kind is Timestamp:
            return Duration(left.nanoseconds - right.nanoseconds)
    if kind is Timestamp and type(right) is Duration:
        return Timestamp(left.nanoseconds - right.nanoseconds, left.offset_seconds)
    raise no_overload("-", left, right)


def multiply(left: Value, right: Value) -> Value:
    """Return ``left * right``."""
    kind = type(left)
    if kind is type(right):
        if kind is int:
            return _int(left * right)
        if kind is float:
            return left * right
        if kind is Uint:
            return _uint(int(left) * int(right))
    raise no_overload("*", left, right)


def divide(left: Value, right: Value) -> Value:
    """Return ``left / right``: toward zero for integers, IEEE 754 for doubles."""
    kind = type(left)
    if kind is not type(right) or kind not in _NUMBERS:
        raise no_overload("/", left, right)
    if kind is float:
        return _divide_doubles(left, right)
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(int(left)) // abs(int(right))
    if kind is Uint:
        return Uint(quotient)
    return _int(quotient if (left < 0) == (right < 0) else -quotient)


def _divide_doubles(left: float, right: float) -> float:
    try:
        return left / right
    except ZeroDivisionError:
        # IEEE 754: the product with the infinity of the divisor's sign, nan for 0/0 and nan.
        return left * math.copysign(math.inf, right)


def remainder(left: Value, right: Value) -> Value:
    """Return ``left % right`` with the sign of ``left``."""
    kind = type(left)
    if kind is not type(right) or kind not in (int, Uint):
        raise no_overload("%", left, right)
    if right == 0:
        raise EvaluationError("remainder by zero")
    rest = abs(int(left)) % abs(int(right))
    return Uint(rest) if kind is Uint else (rest if left >= 0 else -rest)


def negate(value: Value) -> Value:
    """Return ``-value``."""
    if type(value) is int:
        return _int(-value)
    if type(value) is float:
        return -value
    raise no_overload("-", value)


def invert(value: Value) -> bool:
    """Return ``!value``."""
    if type(value) is bool:
        return not value
    raise no_overload("!", value)


def equals(left: Value, right: Value) -> bool:
    """Whether two values are equal: numbers as numbers, all else only within one type."""
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        return bool(left == right)
    if kind in _SCALARS or other in _SCALARS:
        return kind is other and bool(left == right)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(
            equals(adopt(one), adopt(another)) for one, another in zip(left, right, strict=True)
        )
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _equal_maps(left, right)
    return False


def differs(left: Value, right: Value) -> bool:
    """Whether two values are not equal."""
    return not equals(left, right)


def _equal_maps(left: Mapping[Value, Value], right: Mapping[Value, Value]) -> bool:
    if len(left) != len(right):
        return False
    for key in left:
        value = find(right, key)
        if value is _MISSING or not equals(adopt(left[key]), adopt(value)):
            return False
    return True


def _comparison(
    name: str, compare: Callable[[Value, Value], bool]
) -> Callable[[Value, Value], bool]:
    def compare_values(left: Value, right: Value) -> bool:
        kind, other = type(left), type(right)
        if kind in _NUMBERS and other in _NUMBERS:
            # cel-go compares an integer with a double as doubles.
            if (kind is float) is not (other is float):
                return compare(_double(left), _double(right))
            return compare(left, right)
        if kind is other and kind in (str, bytes, bool, Timestamp, Duration):
            return compare(left, right)
        raise no_overload(name, left, right)

    return compare_values


def _double(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def contains(item: Value, container: Value) -> bool:
    """Whether a list holds an equal item, or a map the key."""
    if isinstance(container, Mapping):
        return has_key(container, item)
    if isinstance(container, (list, tuple)):
        return any(equals(item, adopt(other)) for other in container)
    raise no_overload("in", item, container)


def has_key(mapping: Mapping[Value, Value], key: Value) -> bool:
    """Whether a map holds ``key``; a value is not looked at."""
    if type(key) is str:
        return key in mapping
    if type(key) in (bool, int, float, Uint):
        return key in mapping and _is_same_key(mapping, key)
    return False


def find(mapping: Mapping[Value, Value], key: Value) -> Value:
    """Return the value of ``key`` as the map holds it, or a marker that nothing equals."""
    if type(key) is not str and not has_key(mapping, key):
        return _MISSING
    return mapping.get(key, _MISSING)


def _is_same_key(mapping: Mapping[Value, Value], key: float) -> bool:
    """Tell ``true`` from ``1``, which are one key to Python and two to CEL."""
    if key not in (0, 1):
        return True
    is_bool = type(key) is bool
    return any(other == key and (type(other) is bool) == is_bool for other in mapping)


def select(value: Value, field: str) -> Value:
    """Return ``value.field``."""
    if isinstance(value, Mapping):
        found = value.get(field, _MISSING)
        if found is _MISSING:
            raise EvaluationError(f'no such key: "{field}"')
        return adopt(found)
    raise EvaluationError(f'cannot read "{field}" of a value of type {kind_of(value)}')


def has_field(value: Value, field: str) -> bool:
    """Whether a map holds ``field``; false for everything that is no map."""
    return isinstance(value, Mapping) and field in value


def index(value: Value, position: Value) -> Value:
    """Return ``value[position]``."""
    if isinstance(value, Mapping):
        return _index_map(value, position)
    if not isinstance(value, (list, tuple)):
        raise EvaluationError(f"cannot index a value of type {kind_of(value)}")
    if type(position) is float and position.is_integer():
        position = int(position)
    if type(position) not in (int, Uint):
        raise EvaluationError(f"a list index must be an int, found {kind_of(position)}")
    if not 0 <= position < len(value):
        raise EvaluationError("list index out of range")
    return adopt(value[position])


def _index_map(value: Mapping[Value, Value], key: Value) -> Value:
    if type(key) not in (str, bool, int, float, Uint):
        raise EvaluationError(f"a value of type {kind_of(key)} cannot be a map key")
    found = find(value, key)
    if found is _MISSING:
        raise EvaluationError("no such key")
    return adopt(found)


BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": remainder,
    "==": equals,
    "!=": differs,
    "<": _comparison("<", operator.lt),
    "<=": _comparison("<=", operator.le),
    ">": _comparison(">", operator.gt),
    ">=": _comparison(">=", operator.ge),
    "in": contains,
}
UNARY: dict[str, Callable[[Value], Value]] = {"-": negate, "!": invert}
