"""`time/wait`: how long it waits, where it waits, and what ends it."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

import pytest

from mantle_provider.operators import time as time_actions
from mantle_provider.triggers.step import STOPPED_BY, TIME_IS_UP
from mantle_provider.workflow.model import Retry
from support.parking import defer, fail, parked, resume, run_of


@pytest.fixture(autouse=True)
def _no_shortest_wait(monkeypatch):
    monkeypatch.setattr(time_actions, "shortest_wait", lambda: 0.0)


def moment_of(deferred):
    assert deferred.trigger.classpath == (
        "airflow.providers.standard.triggers.temporal.DateTimeTrigger"
    )
    return deferred.trigger.kwargs["moment"]


def test_a_duration_is_waited_for_without_a_worker():
    before = datetime.now(timezone.utc)
    run, deferred = parked("time/wait", {"duration": "1h30m"})
    after = datetime.now(timezone.utc)
    assert before <= moment_of(deferred) - timedelta(hours=1, minutes=30) <= after
    began_at = deferred.kwargs["began_at"]
    deferred.kwargs["began_at"] = time.time() - 5400
    output = resume(run, deferred, moment_of(deferred))
    assert before.timestamp() <= began_at <= after.timestamp()
    assert output["until"] == moment_of(deferred).isoformat().replace("+00:00", "Z")
    assert output["waited_ms"] >= 5_400_000


@pytest.mark.parametrize(
    "until",
    [
        "2126-01-15T10:00:00Z",
        "2126-01-15T12:00:00+02:00",
        "{{ timestamp('2126-01-15T09:00:00Z') + duration('1h') }}",
        "{{ '2126-01-15T' + '10:00:00Z' }}",
    ],
    ids=["utc", "offset", "timestamp", "text"],
)
def test_a_moment_is_waited_for_in_any_of_its_forms(until):
    _, deferred = parked("time/wait", {"until": until})
    assert moment_of(deferred) == datetime(2126, 1, 15, 10, tzinfo=timezone.utc)


def test_a_duration_may_come_from_an_expression():
    _, deferred = parked("time/wait", {"duration": "{{ duration('90m') }}"})
    left = moment_of(deferred) - datetime.now(timezone.utc)
    assert timedelta(minutes=89) < left <= timedelta(minutes=90)


def test_a_moment_that_has_passed_is_no_wait():
    run = run_of("time/wait", {"until": "2006-01-02T15:04:05Z"})
    run.run("a")
    assert run.output("a")["until"] == "2006-01-02T15:04:05Z"


def test_a_wait_that_airflow_does_not_bear_is_spent_in_the_worker(monkeypatch):
    monkeypatch.setattr(time_actions, "shortest_wait", lambda: 8.0)
    run = run_of("time/wait", {"duration": "20ms"})
    run.run("a")
    assert run.output("a")["waited_ms"] >= 20


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "time/wait: duration or until is required"),
        (
            {"duration": "1s", "until": "2026-01-15T10:20:30Z"},
            "time/wait: duration and until are given, but only one is allowed",
        ),
        ({"duration": "{{ '0s' }}"}, "time/wait: duration must be a duration, but is a string"),
        (
            {"duration": "{{ duration('-5s') }}"},
            "time/wait: duration must be a duration, but is a timedelta",
        ),
        ({"until": "{{ 'noon' }}"}, "time/wait: until must be a timestamp, but is a string"),
        ({"until": "{{ 12 }}"}, "time/wait: until must be a timestamp, but is a number"),
    ],
    ids=["none", "both", "zero", "negative", "no-moment", "number"],
)
def test_a_wait_that_cannot_be_begun_fails_before_it_parks(params, message):
    run = run_of("time/wait", params)
    with pytest.raises(Exception, match=f"^{message}$"):
        run.run("a")
    assert run.record("a")["phase"] == "INPUT_RESOLUTION"


def test_the_steps_time_cuts_the_wait():
    run, deferred = parked("time/wait", {"duration": "1h"}, step={"timeout": timedelta(seconds=30)})
    assert deferred.trigger.end == pytest.approx(time.time() + 30, abs=20)
    record = fail(run, deferred, {STOPPED_BY: TIME_IS_UP})
    assert (record["type"], record["message"]) == ("StepTimeout", "step timed out after 30s")


def test_the_workflows_deadline_cuts_the_wait():
    run, deferred = parked(
        "time/wait", {"duration": "1h"}, workflow={"timeout": timedelta(minutes=5)}
    )
    assert deferred.trigger.end == run.dag_run.start_date.timestamp() + 300
    assert fail(run, deferred, {STOPPED_BY: TIME_IS_UP})["type"] == "WorkflowTimeout"


def test_a_failed_step_cuts_the_wait_under_fail_fast():
    run, deferred = parked("time/wait", {"duration": "1h"}, workflow={"fail_fast": True})
    assert deferred.trigger.watch is not None
    record = fail(run, deferred, {STOPPED_BY: "b"})
    assert record["message"] == 'stopped by fail_fast: step "b" failed'


def test_another_attempt_waits_anew():
    run, deferred = parked(
        "time/wait",
        {"duration": "1h"},
        step={"timeout": timedelta(seconds=30), "retry": Retry(max_attempts=2)},
    )
    assert fail(run, deferred, {STOPPED_BY: TIME_IS_UP})["resolution"] == "retry"
    again = defer(run, try_number=2)
    assert moment_of(again) > moment_of(deferred)
