"""Times: what is read, what is written, Go's layouts."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mantle_provider.expressions import ExpressionError, compile_expression
from mantle_provider.expressions.faults import EvaluationError
from mantle_provider.expressions.go_layouts import format_timestamp
from mantle_provider.expressions.time_text import (
    go_duration,
    parse_duration,
    parse_rfc_3339,
    parse_timestamp,
    rfc_3339,
    seconds_text,
)
from mantle_provider.expressions.timestamps import Duration, Timestamp

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1h30m", 5400 * SECOND),
        ("+5s", 5 * SECOND),
        ("-1.5h", -5400 * SECOND),
        ("0", 0),
        ("-0", 0),
        (".5s", SECOND // 2),
        ("1.s", SECOND),
        ("1us1\u00b5s1\u03bcs1ns1ms", 1_003_001),
        ("1.0000000001s", SECOND),
        ("2562047h47m16.854775807s", 2**63 - 1),
    ],
)
def test_duration_is_read(text, nanoseconds):
    assert parse_duration(text) == Duration(nanoseconds)


@pytest.mark.parametrize(
    "text", ["", "1", "1d", "abc", "s", ".s", "1h 30m", "1h-1m", "--1s", "1e3s", "\u0661s"]
)
def test_duration_is_refused(text):
    with pytest.raises(
        EvaluationError, match=r'^not a duration, write one such as "1h30m" or "500ms"$'
    ):
        parse_duration(text)


def test_duration_out_of_range():
    with pytest.raises(EvaluationError, match=r"^duration out of range$"):
        parse_duration("2562047h47m16.854775808s")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-15T10:20:30Z", "2024-01-15T10:20:30Z"),
        ("2024-01-15T10:20:30.120+05:30", "2024-01-15T10:20:30.12+05:30"),
        ("2024-01-15T10:20:30-01:00", "2024-01-15T10:20:30-01:00"),
        ("2024-01-15T10:20:30.1234567899Z", "2024-01-15T10:20:30.123456789Z"),
        ("2024-01-15T10:20:30", "2024-01-15T10:20:30Z"),
        ("2024-01-15T10:20:30.5", "2024-01-15T10:20:30.5Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("01/15/2024", "2024-01-15T00:00:00Z"),
        ("Jan 5, 2024", "2024-01-05T00:00:00Z"),
        ("jAN 05, 2024", "2024-01-05T00:00:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
    ],
)
def test_timestamp_is_read(text, expected):
    assert rfc_3339(parse_timestamp(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-15 10:20:30",
        "January 5, 2024",
        "1/5/2024",
        "1705312800",
        "2024-01-15T10:20:30Z ",
        "2024-01-15T10:20:30z",
        "\u0662\u0660\u0662\u0664-01-15",
    ],
)
def test_timestamp_is_refused(text):
    with pytest.raises(EvaluationError, match=r"^not a timestamp, write one such as "):
        parse_timestamp(text)


@pytest.mark.parametrize(
    "text", ["2024-02-30", "2024-01-15T25:00:00Z", "2024-01-15T10:00:60Z", "0000-01-01"]
)
def test_no_such_day_or_time(text):
    with pytest.raises(EvaluationError, match=r"^no such day or time$"):
        parse_timestamp(text)


@pytest.mark.parametrize("text", ["2024-01-15T10:00:00+24:00", "2024-01-15T10:00:00+01:60"])
def test_no_such_offset(text):
    with pytest.raises(EvaluationError, match=r"^no such offset from UTC$"):
        parse_rfc_3339(text)


def test_only_rfc_3339_is_a_timestamp_of_the_standard_function():
    with pytest.raises(
        EvaluationError, match=r'^not a timestamp, write one such as "2024-01-15T10:20:30Z"$'
    ):
        parse_rfc_3339("2024-01-15")


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("2006-01-02T15:04:05Z07:00", "2024-02-05T15:04:09+05:30"),
        ("Monday, 02 January 2006", "Monday, 05 February 2024"),
        ("Mon Jan _2 2006", "Mon Feb  5 2024"),
        ("1/2/06 3:4:5 PM pm", "2/5/24 3:4:9 PM pm"),
        ("03:04 PM", "03:04 PM"),
        ("002 __2", "036  36"),
        ("05.000 05,00 05.999999999", "09.120 09,12 09.12"),
        ("05.0000000000", "09.1200000000"),
        ("-0700 -07:00 -07 -070000 -07:00:00 MST", "+0530 +05:30 +05 +053000 +05:30:00 +0530"),
        ("Z0700 Z07 Z070000 Z07:00:00", "+0530 +05 +053000 +05:30:00"),
        ("_2006", "_2024"),
        ("Jane Monty", "Jane Monty"),
        ("", ""),
        ("text 7", "text 7"),
    ],
)
def test_go_layout(layout, expected):
    moment = parse_rfc_3339("2024-02-05T15:04:09.12+05:30")

    assert format_timestamp(moment, layout) == expected


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("Z07:00 Z0700 MST -07:00", "Z Z UTC +00:00"),
        ("3 PM pm", "12 AM am"),
        ("05.999", "00"),
    ],
)
def test_go_layout_at_midnight_in_utc(layout, expected):
    assert format_timestamp(Timestamp(0), layout) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("getFullYear()", 2024),
        ("getMonth()", 1),
        ("getDate()", 29),
        ("getDayOfMonth()", 28),
        ("getDayOfWeek()", 4),
        ("getDayOfYear()", 59),
        ("getHours()", 23),
        ("getMinutes()", 31),
        ("getSeconds()", 30),
        ("getMilliseconds()", 123),
        ("getHours('+05:30')", 5),
        ("getMinutes('-00:30')", 1),
        ("getDate('Europe/Oslo')", 1),
        ("getMonth('02:00')", 2),
        ("getSeconds('UTC')", 30),
    ],
)
def test_part_of_a_timestamp(call, expected):
    text = f"timestamp('2024-02-29T23:31:30.123456789Z').{call}"

    assert compile_expression(text).evaluate({}) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "timestamp(0).getHours('Bad/Zone')",
            'unknown time zone, write one such as "Europe/Oslo" or "+02:00"',
        ),
        (
            "timestamp(0).getHours('../etc')",
            'unknown time zone, write one such as "Europe/Oslo" or "+02:00"',
        ),
        ("timestamp(0).getHours('+25:00')", "no such offset from UTC"),
        ("timestamp('0001-01-01T00:00:00Z').getHours('-01:00')", "timestamp out of range"),
        ("timestamp('0001-01-01T00:30:00Z') - duration('1h')", "timestamp out of range"),
        ("timestamp(253402300800)", "timestamp out of range"),
        ("timestamp('9999-12-31T23:30:00-01:00')", "timestamp out of range"),
        (
            "timestamp('9999-12-31T00:00:00Z') - timestamp('0001-01-01T00:00:00Z')",
            "duration out of range",
        ),
    ],
)
def test_time_fails(text, message):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text).evaluate({})

    assert caught.value.message == message


def test_a_local_time_outside_the_years_has_no_text():
    with pytest.raises(EvaluationError, match=r"^timestamp out of range$"):
        Timestamp(253_402_300_799 * SECOND, 3600).to_datetime()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("getHours()", -1),
        ("getMinutes()", -90),
        ("getSeconds()", -5400),
        ("getMilliseconds()", -5_400_500),
    ],
)
def test_parts_of_a_duration_are_the_whole_in_that_unit(call, expected):
    assert compile_expression(f"duration('-90m0.5005s').{call}").evaluate({}) == expected


@pytest.mark.property
@given(st.integers(-(2**63), 2**63 - 1))
def test_durations_round_trip(nanoseconds):
    span = Duration(nanoseconds)

    assert parse_duration(seconds_text(span)) == span
    assert parse_duration(go_duration(span)) == span


@pytest.mark.property
@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),  # noqa: DTZ001  # a zone is added
    st.integers(-23 * 60, 23 * 60),
)
def test_timestamps_round_trip(local, offset_minutes):
    moment = local.replace(tzinfo=timezone(timedelta(minutes=offset_minutes)))
    stamp = Timestamp.from_datetime(moment)

    assert stamp.to_datetime() == moment
    assert parse_rfc_3339(rfc_3339(stamp)) == stamp
    assert hash(parse_rfc_3339(rfc_3339(stamp))) == hash(stamp)
