"""`event/wait`: which events it takes, how it looks for them, and what ends it."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

import pytest
from airflow.sdk.exceptions import TaskDeferred

from mantle_provider.triggers.step import STOPPED_BY, TIME_IS_UP
from mantle_provider.workflow.model import Retry
from support.children import SUPERVISOR
from support.parking import ORDERS, FakeSupervisor, defer, fail, parked, resume, run_of

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def supervisor(monkeypatch):
    supervisor = FakeSupervisor()
    monkeypatch.setattr(SUPERVISOR, supervisor, raising=False)
    return supervisor


def found(params, **keys):
    run = run_of("event/wait", params, **keys)
    run.run("a")
    return run.output("a")["event"]


@pytest.mark.parametrize("params", [{"asset": "orders"}, {"uri": "s3://orders"}], ids=str)
def test_an_event_since_the_runs_start_is_taken_at_once(supervisor, params):
    source = {"source_dag_id": "shop", "source_run_id": "r1", "source_task_id": "sell"}
    supervisor.add_event(ago=2 * HOUR, number=0)
    supervisor.add_event(ago=HOUR / 2, source=source, number=1)
    supervisor.add_event(number=2)
    event = found(params, started_ago=HOUR)
    moment = datetime.fromisoformat(event.pop("timestamp"))
    assert moment == supervisor.events[1].timestamp
    assert event == {
        "asset": ORDERS,
        "extra": {"number": 1},
        "source": {"dag_id": "shop", "run_id": "r1", "task_id": "sell"},
    }


def test_an_event_that_no_task_made_has_no_source(supervisor):
    supervisor.add_event()
    assert found({"asset": "orders"}, started_ago=HOUR)["source"] is None


@pytest.mark.parametrize(("lookback", "number"), [("run-start", 1), ("90m", 1), ("3h", 0)], ids=str)
def test_lookback_says_from_when_on_events_count(supervisor, lookback, number):
    supervisor.add_event(ago=2 * HOUR, number=0)
    supervisor.add_event(ago=HOUR / 2, number=1)
    params = {"asset": "orders", "lookback": lookback}
    assert found(params, started_ago=HOUR)["extra"] == {"number": number}


def test_without_lookback_only_later_events_count(supervisor):
    supervisor.add_event(ago=HOUR / 2)
    run, deferred = parked("event/wait", {"asset": "orders", "lookback": "none"}, started_ago=HOUR)
    supervisor.add_event(number=1)
    assert resume(run, deferred, None)["event"]["extra"] == {"number": 1}


@pytest.mark.parametrize(
    ("wanted", "is_taken"),
    [
        ({}, True),
        ({"region": "north"}, True),
        ({"region": "south"}, False),
        ({"order": {"id": 7}}, True),
        ({"order": {"id": 7.0, "paid": True}}, True),
        ({"order": {"id": 8}}, False),
        ({"order": {"id": {"deep": 7}}}, False),
        ({"order": {"paid": 1}}, False),
        ({"lines": [1, 2]}, True),
        ({"lines": [1]}, False),
        ({"absent": None}, False),
        ({"region": "north", "absent": 1}, False),
        ({"region": "{{ 'nor' + 'th' }}"}, True),
    ],
    ids=str,
)
def test_an_event_fits_when_it_holds_all_that_is_wanted(supervisor, wanted, is_taken):
    supervisor.add_event(region="north", order={"id": 7, "paid": True}, lines=[1, 2])
    params = {"asset": "orders", "match": wanted, "lookback": "1h"}
    if is_taken:
        assert found(params)["asset"] == ORDERS
    else:
        parked("event/wait", params)


def test_the_step_gives_its_worker_back_between_two_looks(supervisor):
    run, deferred = parked("event/wait", {"asset": "orders", "poll_interval": "2m"})
    pause = deferred.trigger.kwargs["moment"] - datetime.now(timezone.utc)
    assert timedelta(seconds=100) < pause <= timedelta(minutes=2)
    task = run.enter("a")
    supervisor.add_event(number=1)
    output = task.resume_execution(
        deferred.method_name, {**deferred.kwargs, "event": None}, run.context
    )
    assert output["event"]["extra"] == {"number": 1}


def test_a_long_wait_does_not_read_all_events_again(supervisor):
    run, deferred = parked("event/wait", {"asset": "orders"}, started_ago=HOUR)
    with pytest.raises(TaskDeferred):
        resume(run, deferred, None)
    assert supervisor.looks[0] == run.dag_run.start_date
    assert supervisor.looks[1] - supervisor.looks[0] > timedelta(minutes=50)


def test_a_wait_that_is_over_has_looked_once_more(supervisor):
    run, deferred = parked("event/wait", {"asset": "orders", "timeout": "30s"})
    assert deferred.trigger.kwargs["moment"].timestamp() == pytest.approx(deferred.kwargs["end"])
    deferred.kwargs["end"] = time.time()
    record = fail(run, deferred, None)
    assert (record["type"], record["phase"], record["message"]) == (
        "StepTimeout",
        "EXECUTION",
        'event/wait: no event of asset "orders" that fits came within 30s',
    )
    supervisor.add_event(number=1)
    assert resume(run, deferred, None)["event"]["extra"] == {"number": 1}


@pytest.mark.parametrize(
    ("params", "message", "field"),
    [
        (
            {"asset": "ordres"},
            'event/wait: Airflow knows no asset "ordres": no Dag names it as outlet, inlet or '
            "schedule",
            "asset",
        ),
        (
            {"uri": "s3://ordres"},
            'event/wait: Airflow knows no asset with the URI "s3://ordres": no Dag names it as '
            "outlet, inlet or schedule",
            "uri",
        ),
        ({}, "event/wait: asset or uri is required", "asset"),
        (
            {"asset": "orders", "match": {"id": "{{ inputs.trigger.id }}"}},
            'cannot resolve "match.id": no such key: "id"',
            "match.id",
        ),
        (
            {"asset": "orders", "lookback": "{{ 'run_start' }}"},
            "event/wait: lookback must be a run-start or none or duration, but is a string",
            "lookback",
        ),
    ],
    ids=["name", "uri", "none", "match", "lookback"],
)
def test_a_wait_that_cannot_be_begun_fails_before_it_parks(params, message, field):
    run = run_of("event/wait", params)
    with pytest.raises(Exception, match="."):
        run.run("a")
    record = run.record("a")
    assert (record["message"], record["phase"], record["field"]) == (
        message,
        "INPUT_RESOLUTION",
        field,
    )


def test_the_steps_time_and_fail_fast_cut_the_wait():
    run, deferred = parked(
        "event/wait",
        {"asset": "orders"},
        step={"timeout": timedelta(seconds=30)},
        workflow={"fail_fast": True},
    )
    assert deferred.trigger.watch is not None
    assert fail(run, deferred, {STOPPED_BY: TIME_IS_UP})["type"] == "StepTimeout"
    assert fail(run, deferred, {STOPPED_BY: "b"})["type"] == "FailFast"


def test_another_attempt_begins_with_its_parameters(supervisor):
    run = run_of("event/wait", {"asset": "ordres"}, step={"retry": Retry(max_attempts=2)})
    with pytest.raises(Exception, match="knows no asset"):
        run.run("a")
    assert run.record("a")["resolution"] == "retry"
    with pytest.raises(Exception, match="knows no asset"):
        run.run("a", try_number=2)
    assert supervisor.looks == []


def test_another_attempt_sees_the_events_that_the_first_was_not_given(supervisor):
    keys = {"step": {"retry": Retry(max_attempts=2)}, "started_ago": HOUR}
    run, deferred = parked("event/wait", {"asset": "orders", "timeout": "30s"}, **keys)
    deferred.kwargs["end"] = time.time()
    assert fail(run, deferred, None)["resolution"] == "retry"
    defer(run, try_number=2)
    assert supervisor.looks[2] == supervisor.looks[0] == run.dag_run.start_date
