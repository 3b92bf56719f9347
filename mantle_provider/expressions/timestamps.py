"""Points and spans of time with nanoseconds, as Go and therefore Mantle count them.

Reading and writing their texts is in ``time_text``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from mantle_provider.expressions.faults import EvaluationError

NANOSECONDS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
# 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z (google.protobuf.Timestamp).
_MIN_SECOND = -62_135_596_800
_MAX_SECOND = 253_402_300_799
# A Go duration is 64 bits of nanoseconds, about 292 years.
_MAX_DURATION = 2**63


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in nanoseconds."""

    nanoseconds: int

    def __post_init__(self) -> None:
        if not -_MAX_DURATION <= self.nanoseconds < _MAX_DURATION:
            raise EvaluationError("duration out of range")

    @classmethod
    def from_timedelta(cls, delta: timedelta) -> Duration:
        """Return the same span."""
        # Of the base class: pendulum's own division wants a divisor of its own kind.
        return cls(timedelta.__floordiv__(delta, _MICROSECOND) * 1000)

    def to_timedelta(self) -> timedelta:
        """Return the same span, cut toward zero to microseconds."""
        microseconds = abs(self.nanoseconds) // 1000
        return timedelta(microseconds=microseconds if self.nanoseconds >= 0 else -microseconds)

    def whole(self, unit_nanoseconds: int) -> int:
        """Return how many whole units the span has, toward zero."""
        count = abs(self.nanoseconds) // unit_nanoseconds
        return count if self.nanoseconds >= 0 else -count


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A point in time; ``offset_seconds`` is how its text shows it and plays no other part.

    :param nanoseconds: since 1970-01-01T00:00:00Z.
    """

    nanoseconds: int
    offset_seconds: int = 0

    def __post_init__(self) -> None:
        if not _MIN_SECOND <= self.nanoseconds // NANOSECONDS <= _MAX_SECOND:
            raise EvaluationError("timestamp out of range")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanoseconds == other.nanoseconds

    def __hash__(self) -> int:
        return hash(self.nanoseconds)

    def __lt__(self, other: Timestamp) -> bool:
        return self.nanoseconds < other.nanoseconds

    def __le__(self, other: Timestamp) -> bool:
        return self.nanoseconds <= other.nanoseconds

    @classmethod
    def from_datetime(cls, moment: datetime) -> Timestamp:
        """Return the same point; one without a time zone is taken as UTC."""
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
        offset = aware.utcoffset() or timedelta()
        # Of the base class: pendulum's own difference is no plain timedelta.
        since_epoch = datetime.__sub__(aware, _EPOCH)
        return cls(since_epoch // _MICROSECOND * 1000, int(offset.total_seconds()))

    @property
    def nanosecond(self) -> int:
        """The part below a second."""
        return self.nanoseconds % NANOSECONDS

    def to_datetime(self) -> datetime:
        """Return the same point with its offset, cut to microseconds.

        :raises EvaluationError: the local time lies outside the years 1 to 9999.
        """
        zone = timezone(timedelta(seconds=self.offset_seconds)) if self.offset_seconds else None
        moment = _EPOCH + timedelta(microseconds=self.nanoseconds // 1000)
        try:
            return moment.astimezone(zone) if zone is not None else moment
        except OverflowError:
            raise EvaluationError("timestamp out of range") from None
