"""Go durations, as ``time.ParseDuration`` reads them.

Finer than Python's ``timedelta`` Go counts nanoseconds; what is below a microsecond is cut.
"""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, the micro sign
    "μs": 1_000,  # U+03BC, the Greek letter
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_MAX_NANOSECONDS = 2**63 - 1

_NUMBER = r"([0-9]+\.?[0-9]*|\.[0-9]+)"
_PART = re.compile(_NUMBER + "(ns|us|µs|μs|ms|s|m|h)")
_SHAPE = re.compile(r"\+?(?:" + _PART.pattern + ")+")
_MISSING_UNIT = re.compile(r"[-+]?[0-9]+\.?[0-9]*")
_UNKNOWN_UNIT = re.compile(r".*?[0-9.]([^0-9.\s]+)")


class DurationError(ValueError):
    """A text that is no positive duration; ``str()`` completes ``duration "..." ...``."""


def parse_duration(text: str) -> timedelta:
    """Return a positive Go duration.

    :raises DurationError: not in Go's form, not positive, below a microsecond, or longer than
        Go's 64 bits of nanoseconds (about 292 years).
    """
    if not _SHAPE.fullmatch(text):
        raise DurationError(_explain(text))
    total = sum(
        (Fraction(number) * _NANOSECONDS[unit] for number, unit in _PART.findall(text)),
        Fraction(0),
    )
    if total > _MAX_NANOSECONDS:
        raise DurationError("is longer than 292 years")
    duration = timedelta(microseconds=int(total) // 1_000)
    if not duration:
        raise DurationError("must be at least one microsecond" if total else "must be positive")
    return duration


def format_duration(duration: timedelta) -> str:
    """Return a positive duration in Go's form, without its zeros: ``1h30m``, ``1.5s``, ``5ms``."""
    microseconds = duration // timedelta(microseconds=1)
    if microseconds < 1_000:  # noqa: PLR2004  # a millisecond
        return f"{microseconds}µs"
    if microseconds < 1_000_000:  # noqa: PLR2004  # a second
        return f"{_decimal(microseconds, 1_000)}ms"
    minutes, rest = divmod(microseconds, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{hours}h" if hours else "", f"{minutes}m" if minutes else ""]
    return "".join(parts) + (f"{_decimal(rest, 1_000_000)}s" if rest else "")


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


def _explain(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        return "is empty"
    if re.search(r"\s", text) and _SHAPE.fullmatch(re.sub(r"\s+", "", text)):
        return "holds blanks"
    if _SHAPE.fullmatch(stripped.removeprefix("-")) or stripped.lstrip("+-") == "0":
        return "must be positive"
    if _MISSING_UNIT.fullmatch(stripped):
        return f'has no unit; write for example "{stripped}s"'
    return _explain_unit(stripped)


def _explain_unit(text: str) -> str:
    match = _UNKNOWN_UNIT.match(text)
    if match is None or match[1] in _NANOSECONDS:
        return 'is not a duration such as "1h30m"'
    units = "ns, us, ms, s, m and h"
    cure = 'write hours, for example "24h"' if match[1] == "d" else f"units are {units}"
    return f'has the unknown unit "{match[1]}"; {cure}'
