"""Texts of times: RFC 3339, Go durations, Mantle's date forms, Go layouts; both directions."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mantle_provider.expressions.faults import EvaluationError
from mantle_provider.expressions.timestamps import NANOSECONDS, Duration, Timestamp

# Units of Go's ``time.ParseDuration``; both characters that people use for micro are known.
_UNITS = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,
    "\u03bcs": 1_000,
    "ms": 1_000_000,
    "s": NANOSECONDS,
    "m": 60 * NANOSECONDS,
    "h": 3600 * NANOSECONDS,
}
_UNIT = "ns|us|\u00b5s|\u03bcs|ms|s|m|h"
_DURATION_PART = re.compile(rf"(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))({_UNIT})")
# No duration in range is written with more characters, unless by zeros.
_MAX_DURATION_TEXT = 200

_DATE = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_CLOCK = (
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?"
)
_OFFSET = r"(?P<offset>Z|[+-][0-9]{2}:[0-9]{2})"
_RFC_3339 = re.compile(f"{_DATE}T{_CLOCK}{_OFFSET}")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
# Mantle's reference, 2.6: the forms ``parseTimestamp`` tries, in this order.
_FORMS = (
    _RFC_3339,
    re.compile(f"{_DATE}T{_CLOCK}"),
    re.compile(_DATE),
    re.compile(r"(?P<month>[0-9]{2})/(?P<day>[0-9]{2})/(?P<year>[0-9]{4})"),
    re.compile(
        rf"(?P<name>{'|'.join(_MONTHS)}) (?P<day>[0-9]{{1,2}}), (?P<year>[0-9]{{4}})",
        re.IGNORECASE | re.ASCII,
    ),
)
_ZONE_OFFSET = re.compile(r"(?P<sign>[+-]?)(?P<hours>[0-9]{2}):(?P<minutes>[0-9]{2})")
_MAX_ZONE_HOURS = 23
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def parse_duration(text: str) -> Duration:
    """Read a Go duration such as ``-1h30m`` or ``1.5s``, in linear time.

    :raises EvaluationError: another text, or more than 292 years.
    """
    sign = -1 if text.startswith("-") else 1
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return Duration(0)
    total = 0
    position = 0
    while position < len(body) <= _MAX_DURATION_TEXT:
        match = _DURATION_PART.match(body, position)
        if match is None:
            break
        whole, fraction, bare_fraction, unit = match.groups()
        fraction = fraction or bare_fraction or ""
        scale = 10 ** len(fraction)
        total += int((whole or "") + fraction or "0") * _UNITS[unit] // scale
        position = match.end()
    if position == 0 or position != len(body):
        raise EvaluationError('not a duration, write one such as "1h30m" or "500ms"')
    return Duration(sign * total)


def parse_rfc_3339(text: str) -> Timestamp:
    """Read a timestamp such as ``2024-01-15T10:20:30.5+02:00``.

    :raises EvaluationError: another text, or no such day or time.
    """
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise EvaluationError('not a timestamp, write one such as "2024-01-15T10:20:30Z"')
    return _timestamp(match)


def parse_timestamp(text: str) -> Timestamp:
    """Read a timestamp in any of the forms of Mantle's ``parseTimestamp``.

    :raises EvaluationError: none of the forms.
    """
    for form in _FORMS:
        match = form.fullmatch(text)
        if match is not None:
            return _timestamp(match)
    raise EvaluationError(
        'not a timestamp, write one such as "2024-01-15T10:20:30Z", "2024-01-15", "01/15/2024"'
        ' or "Jan 15, 2024"'
    )


def _timestamp(match: re.Match[str]) -> Timestamp:
    parts = match.groupdict()
    month = parts.get("month") or str(_MONTHS.index(parts["name"].lower()) + 1)
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    offset = _offset_seconds(parts.get("offset") or "Z")
    try:
        year, day = int(parts["year"]), int(parts["day"])
        local = datetime(year, int(month), day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        raise EvaluationError("no such day or time") from None
    seconds = (local - _EPOCH) // timedelta(seconds=1) - offset
    fraction = (parts.get("fraction") or "")[:9].ljust(9, "0")
    return Timestamp(seconds * NANOSECONDS + int(fraction), offset)


def _offset_seconds(text: str) -> int:
    if text == "Z":
        return 0
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > _MAX_ZONE_HOURS or minutes > 59:  # noqa: PLR2004  # minutes of an hour
        raise EvaluationError("no such offset from UTC")
    seconds = hours * 3600 + minutes * 60
    return -seconds if text[0] == "-" else seconds


def in_zone(moment: Timestamp, name: str) -> datetime:
    """Return local time, without the part below microseconds.

    :param name: ``UTC``, a name of the IANA database, or an offset such as ``+02:00``.
    :raises EvaluationError: no such zone, or a time outside the years 1 to 9999.
    """
    utc = Timestamp(moment.nanoseconds).to_datetime()
    try:
        return utc.astimezone(_zone(name))
    except OverflowError:
        raise EvaluationError("timestamp out of range") from None


def _zone(name: str) -> tzinfo:
    offset = _ZONE_OFFSET.fullmatch(name)
    if offset is not None:
        sign = offset["sign"] or "+"
        return timezone(timedelta(seconds=_offset_seconds(f"{sign}{name.lstrip('+-')}")))
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise EvaluationError(
            'unknown time zone, write one such as "Europe/Oslo" or "+02:00"'
        ) from None


def _fraction_text(nanoseconds: int) -> str:
    return f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""


def offset_text(seconds: int, separator: str = ":") -> str:
    """Return an offset as ``+02:00``, or ``+0200`` without separator."""
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02d}{separator}{minutes:02d}"


def rfc_3339(moment: Timestamp) -> str:
    """Return a timestamp's text, with nine decimals at most and its own offset."""
    local = moment.to_datetime()
    zone = offset_text(moment.offset_seconds) if moment.offset_seconds else "Z"
    return f"{_clock_text(local, 'T')}{_fraction_text(moment.nanosecond)}{zone}"


def _clock_text(local: datetime, separator: str) -> str:
    # ``strftime`` writes years below 1000 without their zeros on some systems.
    return local.replace(microsecond=0, tzinfo=None).isoformat(separator)


def go_timestamp(moment: Timestamp) -> str:
    """Return a timestamp as Go's ``%v`` does: ``2024-01-15 10:00:00.5 +0000 UTC``."""
    offset = offset_text(moment.offset_seconds, "")
    name = offset if moment.offset_seconds else "UTC"
    clock = _clock_text(moment.to_datetime(), " ")
    return f"{clock}{_fraction_text(moment.nanosecond)} {offset} {name}"


def seconds_text(span: Duration) -> str:
    """Return a duration as CEL's ``string()`` does: ``5400s``, ``-0.5s``."""
    seconds, rest = divmod(abs(span.nanoseconds), NANOSECONDS)
    sign = "-" if span.nanoseconds < 0 else ""
    return f"{sign}{seconds}{_fraction_text(rest)}s"


def go_duration(span: Duration) -> str:
    """Return a duration as Go's ``Duration.String`` does: ``1h30m0s``, ``1.5ms``, ``0s``."""
    sign = "-" if span.nanoseconds < 0 else ""
    rest = abs(span.nanoseconds)
    if 0 < rest < NANOSECONDS:
        unit = next(unit for unit in ("ms", "\u00b5s", "ns") if rest >= _UNITS[unit])
        whole, part = divmod(rest, _UNITS[unit])
        digits = len(str(_UNITS[unit])) - 1
        fraction = f".{part:0{digits}d}".rstrip("0") if part else ""
        return f"{sign}{whole}{fraction}{unit}"
    minutes, rest = divmod(rest, 60 * NANOSECONDS)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest // NANOSECONDS}{_fraction_text(rest % NANOSECONDS)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"
