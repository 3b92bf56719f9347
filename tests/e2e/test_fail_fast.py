"""``fail_fast: true``: what stops within seconds, what Airflow makes wait, what it costs."""

from __future__ import annotations

import re
import time
from datetime import datetime

import psutil
import pytest
from e2e_scripts import script

pytestmark = [pytest.mark.e2e, pytest.mark.workflow("fail-fast-siblings")]

INTERVAL_SECONDS = 2
SOON_SECONDS = 30
"""The interval, the end of the process, and a machine busy with all other runs of the suite."""
AT_WORK = {
    "culprit": "running",
    "runs-python": "running",
    "runs-subprocess": "running",
    "is-deferred": "deferred",
    "holds-slot": "running",
    "waits-for-slot": "scheduled",
    "is-up-for-retry": "up_for_retry",
}
WATCHING = [name for name, state in AT_WORK.items() if state == "running"]
"""The triggerer looks for the deferred one, without a call to the API server."""
MEASURED_SECONDS = 30
LOOK = re.compile(
    r"path=/execution/task-instances/count query=\S*dag_id=([^&\s]+)\S*&states=failed"
)


@script("fail-fast-siblings")
def fail_when_all_are_at_work(run):
    """Return how many calls the steps have made while all looked for failures, in what time."""
    yield from run.until(lambda: AT_WORK.items() <= run.states().items())
    calls, begin = count_calls(run.suite).count(run.dag_id), time.monotonic()
    yield from run.until(lambda: time.monotonic() - begin > MEASURED_SECONDS)
    calls = count_calls(run.suite).count(run.dag_id) - calls
    seconds = time.monotonic() - begin
    run.suite.inbox.hold(run.dag_id).set()
    return {"calls": calls, "seconds": seconds}


def count_calls(suite):
    """Return the Dags whose failures were asked for, one entry for each call."""
    log = suite.airflow.log_path("execution-api-server").read_text()
    return LOOK.findall(log)


def seconds_after_the_failure(run, task_id, edge="end_date"):
    failed_at, then = run.tasks["culprit"]["end_date"], run.tasks[task_id][edge]
    return (datetime.fromisoformat(then) - datetime.fromisoformat(failed_at)).total_seconds()


@pytest.mark.parametrize(
    ("name", "edge"),
    [
        ("runs-python", "end_date"),
        ("runs-subprocess", "end_date"),
        ("holds-slot", "end_date"),
        # It comes back at once, but needs a slot to say that it has failed.
        ("is-deferred", "scheduled_when"),
    ],
)
def test_what_runs_or_is_deferred_is_stopped_within_seconds(run, name, edge):
    assert run.task_states[name] == "failed"
    assert run.xcoms(name)["mantle_error"]["message"] == (
        'stopped by fail_fast: step "culprit" failed'
    )
    assert seconds_after_the_failure(run, name, edge) < SOON_SECONDS


def test_what_a_step_has_started_is_stopped_too(run):
    pid = re.search(r"subprocess (\d+)", run.log_text("runs-subprocess"))
    assert not psutil.pid_exists(int(pid[1]))


def test_what_waits_for_a_slot_does_not_start_once_it_gets_it(run):
    assert run.task_states["waits-for-slot"] == "failed"
    assert run.xcoms("waits-for-slot")["mantle_error"]["message"] == (
        'not started by fail_fast: step "culprit" failed'
    )


def test_what_waits_for_its_retry_waits_on_and_then_does_not_start(run):
    """Airflow cannot be told to give a retry up; the hooks wait for it, too."""
    task = run.tasks["is-up-for-retry"]
    assert (task["state"], task["try_number"]) == ("failed", 2)
    assert run.xcoms("is-up-for-retry")["mantle_error"]["type"] == "FailFast"
    assert seconds_after_the_failure(run, "on_failure.alert", "start_date") > (
        seconds_after_the_failure(run, "is-up-for-retry")
    )


def test_the_cause_is_the_failure_and_not_what_it_stopped(run, suite):
    assert run.state == "failed"
    path = "/echo/fail-fast-siblings"
    (told,) = [request.body for request in suite.inbox.requests if request.path == path]
    assert told == {
        "failed_step": "culprit",
        "statuses": {
            "runs-python": "KILLED",
            "runs-subprocess": "KILLED",
            "is-deferred": "KILLED",
            "waits-for-slot": "CANCELLED",
            "is-up-for-retry": "KILLED",
        },
        "not_started": "CANCELLED",
    }
    assert run.task_states["not-started"] == "upstream_failed"


def test_each_running_step_asks_no_more_than_once_an_interval(run):
    """The figure in docs/reference/lifecycle.md."""
    # A stretch of time that begins with a look holds one more than it has intervals.
    most = run.seen["seconds"] / INTERVAL_SECONDS + 1
    assert 0 < run.seen["calls"] / len(WATCHING) <= most


def test_only_steps_under_fail_fast_ask(run, suite):
    asking = set(count_calls(suite))
    assert {dag_id for dag_id in asking if "fail-fast" not in dag_id} == set()
