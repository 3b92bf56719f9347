"""Five-field cron expressions: checked here as Airflow's croniter will read them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mantle_provider.diagnostics.wording import quote
from mantle_provider.source.span import Fragment

PRESETS = (
    "@yearly",
    "@annually",
    "@quarterly",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
)
"""Names for cron expressions that Airflow knows (``airflow.timetables`` ``cron_presets``)."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_ITEM = re.compile(r"(?P<start>\*|\w+)(?:-(?P<end>\w+))?(?:/(?P<step>\w+))?")
_NTH_WEEKDAY = re.compile(r"(?P<day>\w+)#[1-5]|[lL](?P<last>\w+)")


class CronError(ValueError):
    """A text that is no schedule; ``str()`` completes ``schedule "..." ...``.

    :param fragment: the field that is wrong, ``None`` for the whole.
    """

    def __init__(self, message: str, fragment: Fragment | None = None) -> None:
        super().__init__(message)
        self.fragment = fragment


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    minimum: int
    maximum: int
    names: tuple[str, ...] = ()

    def number(self, text: str) -> int | None:
        """Return the value of a number or name, ``None`` for what is neither or out of range."""
        if text.lower() in self.names:
            return self.names.index(text.lower()) + self.minimum
        number = int(text) if text.isdecimal() and len(text) <= 4 else -1  # noqa: PLR2004  # no value is longer
        return number if self.minimum <= number <= self.maximum else None


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _WEEKDAYS),
)


def check_cron(text: str) -> None:
    """Check one schedule.

    :raises CronError: not a preset and not five valid fields, or a date that no year has.
    """
    stripped = text.strip()
    if stripped.startswith("@"):
        if stripped not in PRESETS:
            raise CronError(f"is not one of {', '.join(PRESETS)}")
        return
    fields = list(re.finditer(r"\S+", text))
    if len(fields) != len(_FIELDS):
        raise CronError(
            f"has {len(fields)} fields, not five: minute, hour, day of the month, month,"
            " day of the week"
        )
    for field, match in zip(_FIELDS, fields, strict=True):
        for item in match.group().split(","):
            reason = _explain(item, field)
            if reason:
                fragment = Fragment.at(text, *match.span())
                raise CronError(
                    f"has a wrong {field.name} {quote(match.group())}: {reason}", fragment
                )
    days, months, weekdays = (match.group() for match in fields[2:])
    if any(item in weekdays.lower() for item in "#l") and days not in ("*", "?"):
        raise CronError("names both a day and a certain weekday of the month; keep one of them")
    if weekdays == "*" and not _can_happen(days, months):
        raise CronError("never comes due: no such month has that day")


def _explain(item: str, field: _Field) -> str:
    """Return what is wrong with one item of a field; empty when nothing is."""
    if field.name.startswith("day") and _is_special(item, field):
        return ""
    match = _ITEM.fullmatch(item)
    if not match or (match["start"] == "*" and match["end"]):
        return f"{quote(item)} is not a number, a range, or a step"
    for text in (match["start"], match["end"]):
        if text not in (None, "*") and field.number(text) is None:
            names = f", nor a name such as {quote(field.names[1])}" if field.names else ""
            return f"{quote(text)} is not from {field.minimum} to {field.maximum}{names}"
    step = match["step"]
    if step is not None and not (step.isdecimal() and 0 < int(step) <= field.maximum):
        return f"the step {quote(step)} is not from 1 to {field.maximum}"
    return ""


def _is_special(item: str, field: _Field) -> bool:
    """Whether an item is the last day of the month, or a certain weekday of the month."""
    if field.name == "day of the month":
        return item in ("l", "L", "?")
    match = _NTH_WEEKDAY.fullmatch(item)
    return item == "?" or bool(match and field.number(match["day"] or match["last"]) is not None)


def _can_happen(days: str, months: str) -> bool:
    """Whether some month has one of the days; only plain numbers can rule that out."""
    if not all(day.isdecimal() for day in days.split(",")):
        return True
    first = min(int(day) for day in days.split(","))
    month = _FIELDS[3]
    numbers = [month.number(item) for item in months.split(",")]
    if None in numbers:
        return True
    return any(number and first <= _LONGEST_MONTHS[number - 1] for number in numbers)
