"""What a run tells the outside: exact names and labels, and one structured line for each event."""

from __future__ import annotations

from datetime import timedelta

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from structlog.testing import capture_logs

from mantle_provider.operators import events
from mantle_provider.workflow.model import LifecycleHooks, Retry, Workflow
from support.runs import FakeRun
from support.steps import call


@pytest.fixture
def metrics(monkeypatch):
    """Collects (name, tags) of counters, and of timings with their duration."""
    collected = []

    def incr(name, *, tags):
        collected.append((name, tags))

    def timing(name, duration, *, tags):
        assert isinstance(duration, timedelta)
        collected.append((name, tags))

    monkeypatch.setattr(events.stats, "incr", incr)
    monkeypatch.setattr(events.stats, "timing", timing)
    return collected


def run_of(*steps, **hooks):
    return FakeRun(Workflow(name="flow", steps=steps, hooks=LifecycleHooks(**hooks)))


STEP = {"workflow": "flow", "step": "a"}
HOOK = {"workflow": "flow", "hook": "on_finish", "step": "h"}


def test_a_completed_step_is_counted_and_timed(metrics):
    run_of(call("a")).run("a")
    assert metrics == [
        ("mantle_steps_total", {**STEP, "status": "completed"}),
        ("mantle_step_duration", STEP),
    ]


def test_a_failure_is_counted_once_after_the_last_attempt(metrics):
    run = run_of(call("a", "support.functions.fail_with_output", retry=Retry(2)))
    for try_number in (1, 2):
        with pytest.raises(Exception, match="^no luck$"):
            run.run("a", try_number=try_number)
    assert metrics == [
        ("mantle_steps_total", {**STEP, "status": "failed"}),
        ("mantle_step_duration", STEP),
    ]


@pytest.mark.parametrize(
    ("keys", "states", "status"),
    [
        ({"condition": "false"}, {}, "skipped"),
        ({"depends_on": ("t", "b")}, {"t": "failed", "b": "failed"}, "cancelled"),
    ],
    ids=["skipped", "cancelled"],
)
def test_a_step_that_does_not_run_is_counted(metrics, keys, states, status):
    run = run_of(call("t", continue_on_error=True), call("b"), call("a", **keys))
    run.states |= states
    with pytest.raises(AirflowSkipException):
        run.run("a")
    assert metrics == [("mantle_steps_total", {**STEP, "status": status})]


def test_a_failed_hook_is_counted_twice_over(metrics):
    run = run_of(call("a"), on_finish=(call("h", "support.functions.fail_with_output"),))
    with pytest.raises(Exception, match="^no luck$"):
        run.run("on_finish.h")
    assert metrics == [
        ("mantle_hook_steps_total", {**HOOK, "status": "failed"}),
        ("mantle_hook_steps_failed_total", HOOK),
    ]


def test_the_outcome_counts_the_run_and_what_could_not_count_itself(metrics):
    run = run_of(call("a"), call("b"), call("c", depends_on=("a",)), on_finish=(call("h"),))
    run.states |= {"a": "failed", "b": "success", "c": "upstream_failed"}
    with pytest.raises(AirflowFailException):
        run.run("workflow_outcome")
    assert metrics == [
        ("mantle_executions_total", {"workflow": "flow", "status": "failed"}),
        ("mantle_execution_duration", {"workflow": "flow"}),
        ("mantle_steps_total", {"workflow": "flow", "step": "a", "status": "killed"}),
        ("mantle_steps_total", {"workflow": "flow", "step": "c", "status": "cancelled"}),
    ]


def test_each_event_is_one_structured_line():
    run = run_of(call("a"), on_finish=(call("h", "support.functions.fail_with_output"),))
    with capture_logs() as lines, pytest.raises(Exception, match="^no luck$"):
        run.run("on_finish.h")
    told = [line for line in lines if line["event"].startswith("hook.step.")]
    place = {"workflow": "flow", "run": "manual__1", "block": "on_finish", "step": "h"}
    assert told == [
        {
            "event": "hook.step.started",
            "log_level": "info",
            **place,
            "status": "running",
            "attempt": 1,
        },
        {
            "event": "hook.step.failed",
            "log_level": "info",
            **place,
            "status": "failed",
            "error": "no luck",
        },
    ]
