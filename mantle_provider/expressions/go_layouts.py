"""Go's time layouts: ``2006-01-02 15:04:05`` shows by example what to write.

Follows ``nextStdChunk`` and ``Time.Format`` of Go's package ``time``. Names are English.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mantle_provider.expressions.time_text import offset_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from mantle_provider.expressions.timestamps import Timestamp

_CHUNK = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|__2|_2(?!006)|[345]"
    r"|PM|pm|[-Z]07:00:00|[-Z]070000|[-Z]07:00|[-Z]0700|[-Z]07|[.,](?:0+|9+)(?![0-9])"
)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def format_timestamp(moment: Timestamp, layout: str) -> str:
    """Return a timestamp in a Go layout, in its own offset."""
    local = moment.to_datetime()
    return _CHUNK.sub(lambda match: _write(match.group(), moment, local), layout)


def _hour_12(local: datetime) -> int:
    return local.hour % 12 or 12


_WRITERS: dict[str, Callable[[datetime], str]] = {
    "January": lambda local: _MONTHS[local.month - 1],
    "Jan": lambda local: _MONTHS[local.month - 1][:3],
    "Monday": lambda local: _WEEKDAYS[local.weekday()],
    "Mon": lambda local: _WEEKDAYS[local.weekday()][:3],
    "01": lambda local: f"{local.month:02d}",
    "1": lambda local: str(local.month),
    "02": lambda local: f"{local.day:02d}",
    "_2": lambda local: f"{local.day:2d}",
    "2": lambda local: str(local.day),
    "002": lambda local: f"{local.timetuple().tm_yday:03d}",
    "__2": lambda local: f"{local.timetuple().tm_yday:3d}",
    "2006": lambda local: f"{local.year:04d}",
    "06": lambda local: f"{local.year % 100:02d}",
    "15": lambda local: f"{local.hour:02d}",
    "03": lambda local: f"{_hour_12(local):02d}",
    "3": lambda local: str(_hour_12(local)),
    "04": lambda local: f"{local.minute:02d}",
    "4": lambda local: str(local.minute),
    "05": lambda local: f"{local.second:02d}",
    "5": lambda local: str(local.second),
    "PM": lambda local: "AM" if local.hour < 12 else "PM",  # noqa: PLR2004  # noon
    "pm": lambda local: "am" if local.hour < 12 else "pm",  # noqa: PLR2004  # noon
}


def _write(chunk: str, moment: Timestamp, local: datetime) -> str:
    if chunk in _WRITERS:
        return _WRITERS[chunk](local)
    if chunk[0] in ".,":
        digits = f"{moment.nanosecond:09d}"[: len(chunk) - 1].ljust(len(chunk) - 1, "0")
        if chunk[1] == "0":
            return chunk[0] + digits
        digits = digits.rstrip("0")
        return chunk[0] + digits if digits else ""
    return _write_zone(chunk, moment.offset_seconds)


def _write_zone(chunk: str, offset_seconds: int) -> str:
    if chunk == "MST":
        return offset_text(offset_seconds, "") if offset_seconds else "UTC"
    if chunk[0] == "Z" and offset_seconds == 0:
        return "Z"
    form = chunk[1:]
    text = offset_text(offset_seconds, ":" if ":" in form else "")
    if form == "07":
        return text[:3]
    # Seconds of an offset exist in historical zones only; RFC 3339 has none.
    return text + {"07:00:00": ":00", "070000": "00"}.get(form, "")
