"""Cron expressions, compared with the library that Airflow reads them with."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mantle_provider.workflow.cron import PRESETS, CronError, check_cron


def reason_of(text):
    try:
        check_cron(text)
    except CronError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "text",
    [
        *PRESETS,
        "* * * * *",
        "0 6 * * MON-FRI",
        "*/15 0-6,22 1 jan,JUL *",
        "0 0 29 2 *",
        "0 0 31 1-12 *",
        "0 0 L * *",
        "0 0 * * 5#3",
        "0 0 * * L5",
        "0 0 ? * 7",
        " 5  4 * * sun ",
        "5/10 * * * *",
    ],
)
def test_schedules_that_come_due_are_accepted(text):
    assert reason_of(text) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "has 0 fields, not five: minute, hour, day of the month, month, day of the week"),
        (
            "* * * * * *",
            "has 6 fields, not five: minute, hour, day of the month, month, day of the week",
        ),
        ("60 * * * *", 'has a wrong minute "60": "60" is not from 0 to 59'),
        ("* * 0 * *", 'has a wrong day of the month "0": "0" is not from 1 to 31'),
        (
            "* * * foo *",
            'has a wrong month "foo": "foo" is not from 1 to 12, nor a name such as "feb"',
        ),
        ("*-5 * * * *", 'has a wrong minute "*-5": "*-5" is not a number, a range, or a step'),
        ("1,,2 * * * *", 'has a wrong minute "1,,2": "" is not a number, a range, or a step'),
        ("*/x * * * *", 'has a wrong minute "*/x": the step "x" is not from 1 to 59'),
        (
            "* * * * 1#6",
            'has a wrong day of the week "1#6": "1#6" is not a number, a range, or a step',
        ),
        ("* L * * *", 'has a wrong hour "L": "L" is not from 0 to 23'),
        (
            "0 0 1 * 5#3",
            "names both a day and a certain weekday of the month; keep one of them",
        ),
        ("0 0 30 2 *", "never comes due: no such month has that day"),
        ("0 0 31 feb,apr *", "never comes due: no such month has that day"),
    ],
)
def test_other_texts_are_explained(text, reason):
    assert reason_of(text) == reason


FIELD_ITEMS = (
    "* 0 1 5 7 12 23 31 59 60 1-5 */2 */0 2-9/3 3/4 MON sun jan dec x 1,2 L ? 2#2 L3 -1 1-"
)
ITEMS = st.sampled_from(FIELD_ITEMS.split())


@pytest.mark.property
@settings(max_examples=500, deadline=None)
@given(st.lists(ITEMS, min_size=5, max_size=5))
def test_what_is_accepted_is_accepted_by_croniter(fields):
    croniter = pytest.importorskip("croniter")
    text = " ".join(fields)
    if not reason_of(text):
        croniter.croniter(text).get_next()
