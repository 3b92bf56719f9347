"""Go durations."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mantle_provider.workflow.durations import DurationError, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5),
        ("+5s", 5),
        (".5s", 0.5),
        ("5.s", 5),
        ("1.5h", 5400),
        ("1h30m", 5400),
        ("30m1h", 5400),
        ("500ms", 0.5),
        ("5µs", 0.000005),
        ("5μs", 0.000005),
        ("5us", 0.000005),
        ("1000ns", 0.000001),
        ("1h1m1s1ms1us", 3661.001001),
        ("0h5m", 300),
    ],
)
def test_what_go_reads_is_read(text, seconds):
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("30", 'has no unit; write for example "30s"'),
        ("1.5", 'has no unit; write for example "1.5s"'),
        ("0", "must be positive"),
        ("0s", "must be positive"),
        ("-5s", "must be positive"),
        ("1d", 'has the unknown unit "d"; write hours, for example "24h"'),
        ("5min", 'has the unknown unit "min"; units are ns, us, ms, s, m and h'),
        ("1 h", "holds blanks"),
        ("1h ", "holds blanks"),
        ("1e3s", 'has the unknown unit "e"; units are ns, us, ms, s, m and h'),
        ("1h30", 'is not a duration such as "1h30m"'),
        ("soon", 'is not a duration such as "1h30m"'),
        ("500ns", "must be at least one microsecond"),
        ("2562048h", "is longer than 292 years"),
    ],
)
def test_what_is_wrong_is_explained(text, reason):
    with pytest.raises(DurationError) as raised:
        parse_duration(text)
    assert str(raised.value) == reason


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(microseconds=5), "5µs"),
        (timedelta(milliseconds=1, microseconds=500), "1.5ms"),
        (timedelta(seconds=1.5), "1.5s"),
        (timedelta(minutes=5), "5m"),
        (timedelta(hours=1, minutes=30), "1h30m"),
        (timedelta(days=2), "48h"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(hours=1, seconds=5), "1h5s"),
    ],
)
def test_durations_are_written_without_zeros(duration, text):
    assert format_duration(duration) == text


@pytest.mark.property
@given(
    st.timedeltas(
        min_value=timedelta(microseconds=1), max_value=timedelta(microseconds=(2**63 - 1) // 1000)
    )
)
def test_what_is_written_is_read_back(duration):
    assert parse_duration(format_duration(duration)) == duration


@pytest.mark.property
@given(st.text(alphabet="0123456789.hmsnuµ+- ", max_size=12))
def test_every_text_is_a_positive_duration_or_an_error(text):
    with suppress(DurationError):
        assert parse_duration(text) > timedelta(0)
