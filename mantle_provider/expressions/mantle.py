"""The functions that Mantle adds to CEL (reference 2.6, from its ``cel/functions.go``).

Arguments have the types that ``functions`` declares. Failures say what is wrong with the value
and never what it is.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from mantle_provider.expressions import standard, text
from mantle_provider.expressions.budgets import (
    MAX_JSON_BYTES,
    MAX_SPLIT_PARTS,
    check_list_length,
    check_text_length,
)
from mantle_provider.expressions.faults import BudgetError, EvaluationError
from mantle_provider.expressions.values import MAX_INT, MIN_INT, Value, adopt

if TYPE_CHECKING:
    from collections.abc import Sequence

# Unicode White_Space, which Go's ``strings.TrimSpace`` strips; ``str.strip`` strips more.
_BLANKS = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
# Longer texts of digits are out of range; Python refuses to convert thousands of them.
_MAX_INTEGER_DIGITS = 20


def _simple_lower(character: str) -> str:
    return character.lower()[0]


def _simple_upper(character: str) -> str:
    # A character whose capital is several characters has a simple mapping only if its title
    # case is one.
    for mapped in (character.upper(), character.title()):
        if len(mapped) == 1:
            return mapped
    return character


def to_lower(value: str) -> str:
    """Map each character by itself, as Go does: no final sigma."""
    return value.lower() if value.isascii() else "".join(map(_simple_lower, value))


def to_upper(value: str) -> str:
    """Map each character by itself, as Go does: ``ß`` stays."""
    return value.upper() if value.isascii() else "".join(map(_simple_upper, value))


def trim(value: str) -> str:
    """Strip white space at both ends."""
    return value.strip(_BLANKS)


def replace(value: str, old: str, new: str) -> str:
    """Replace all; an empty ``old`` stands before every character and at the end."""
    # Before the work: the text itself might not fit into memory.
    check_text_length(len(value) + value.count(old) * (len(new) - len(old)))
    return value.replace(old, new)


def split(value: str, separator: str) -> list[str]:
    """Split at each separator; an empty one splits into characters."""
    parts = value.split(separator) if separator else list(value)
    if len(parts) > MAX_SPLIT_PARTS:
        raise EvaluationError(f"split(): more than {MAX_SPLIT_PARTS} parts")
    return parts


def parse_int(value: str) -> int:
    """Read a whole number."""
    return standard.parse_integer("parseInt", value, MIN_INT, MAX_INT)


def parse_float(value: str) -> float:
    """Read a number."""
    return standard.parse_double("parseFloat", value)


def to_string(value: Value) -> str:
    """Return Go's ``%v``, with null and large doubles as in templates."""
    return text.go_text(value)


def flatten(value: Sequence[Value]) -> list[Value]:
    """Put the items of inner lists in their place, one level deep."""
    result: list[Value] = []
    for item in value:
        adopted = adopt(item)
        if isinstance(adopted, (list, tuple)):
            result.extend(adopted)
        else:
            result.append(adopted)
        check_list_length(len(result))
    return result


def obj(*pairs: Value) -> dict[str, Value]:
    """Build a map; the last of equal keys wins."""
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def json_encode(value: Value) -> str:
    """Return compact JSON."""
    return text.encode_json(value)


def json_decode(value: str) -> Value:
    """Read JSON; a number that fits neither int nor double stays text, as in Mantle."""
    if len(standard.utf_8(value)) > MAX_JSON_BYTES:
        raise EvaluationError(f"jsonDecode(): more than {MAX_JSON_BYTES} bytes")
    try:
        return json.loads(
            value,
            parse_int=_json_integer,
            parse_float=_json_double,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise BudgetError("jsonDecode(): nested too deeply") from None
    except ValueError as error:
        where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise EvaluationError(f"jsonDecode(): not JSON{where}") from None


def _json_integer(digits: str) -> int | str:
    if len(digits) > _MAX_INTEGER_DIGITS or not MIN_INT <= int(digits) <= MAX_INT:
        return digits
    return int(digits)


def _json_double(digits: str) -> float | str:
    number = float(digits)
    return digits if math.isinf(number) else number


def _refuse_constant(_name: str) -> None:
    raise ValueError("JSON has no infinity and no NaN")
