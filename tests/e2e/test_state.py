"""What callbacks, listeners and operators are told on a running Airflow, and what they change.

CDAP's tests ``testWorkflowStatus`` and "destroy throws" by their Mantle words.
"""

from __future__ import annotations

import json

import pytest
from e2e_scripts import script

pytestmark = pytest.mark.e2e


def until_at_work(run):
    received = run.suite.inbox.requests
    path = f"/slow/60/{run.dag_id}"
    yield from run.until(lambda: any(request.path == path for request in received))


@script("state-killed")
def kill_the_work(run):
    yield from until_at_work(run)
    yield from run.kill("work")


@script("state-cancelled")
def cancel_the_run(run):
    yield from until_at_work(run)
    run.suite.client.mark_failed(run.dag_id, run.run_id)
    return (yield from run.until_quiet(20))


def posted(suite, path):
    return [request.body for request in suite.inbox.requests if request.path == f"/echo/{path}"]


@pytest.mark.workflow("state-completed")
def test_a_completed_step_and_workflow_are_told_so(run, suite):
    """CDAP's testWorkflowStatus, 2: both success markers are there."""
    assert run.state == "success"
    assert posted(suite, "state-completed/step") == [{"step": "lock", "succeeded": True}]
    assert posted(suite, "state-completed/workflow") == [
        {
            "status": "completed",
            "nodes": {"lock": "COMPLETED", "hold": "COMPLETED"},
            "causes": {},
            "properties": {"lock": "lock of state-completed"},
        }
    ]


@pytest.mark.workflow("state-completed")
def test_an_operator_of_the_users_is_called_when_its_step_and_the_workflow_have_ended(run, suite):
    assert posted(suite, "state-completed/operator") == [
        {"operator": True},
        {"operator": "completed"},
    ]


@pytest.mark.workflow("state-completed")
def test_listeners_hear_of_a_real_run_in_its_order(run, suite):
    heard = posted(suite, "state-completed/journal")
    assert heard[0] == "started"
    assert heard[1:] == [
        "entered lock",
        'completed lock {"result": "lock"}',
        "entered hold",
        'completed hold {"path": "state-completed/operator"}',
        "entered tell",
        *[text for text in heard if text.startswith("completed tell")],
        "workflow completed",
    ]
    assert len(heard) == 8


@pytest.mark.workflow("state-completed")
def test_a_listener_that_fails_is_red_and_no_step_is(run):
    states = run.task_states
    assert (states.pop("workflow_started"), states.pop("callback_on_finish")) == (
        "failed",
        "failed",
    )
    assert set(states.values()) == {"success"}
    assert "deaf to lock of manual__" in run.log_text("lock")


@pytest.mark.workflow("state-failed")
def test_a_failed_step_and_workflow_are_told_so(run, suite):
    """CDAP's testWorkflowStatus, 1: an action throws, and neither success marker is written."""
    assert run.state == "failed"
    assert posted(suite, "state-failed/step") == [{"step": "work", "succeeded": False}]
    assert posted(suite, "state-failed/workflow") == [
        {
            "status": "failed",
            "nodes": {"work": "FAILED", "load": "CANCELLED"},
            "causes": {"work": "no luck while running"},
            "properties": {},
        }
    ]


@pytest.mark.workflow("state-cancelled")
def test_a_run_that_a_user_cancels_calls_nobody(run, suite):
    """CDAP's testWorkflowStatus, 3; there ``destroy`` saw KILLED, here nobody is called."""
    assert run.state == "failed"
    assert run.seen["callback_on_finish"] == "skipped"
    assert posted(suite, "state-cancelled/workflow") == []
    assert posted(suite, "state-cancelled/journal") == ["started", "entered work"]


@pytest.mark.workflow("state-killed")
def test_the_outcome_calls_on_finish_of_a_killed_step(run, suite):
    assert run.state == "failed"
    assert posted(suite, "state-killed/step") == [{"step": "work", "succeeded": False}]
    assert posted(suite, "state-killed/workflow") == [
        {"status": "failed", "nodes": {"work": "KILLED"}, "causes": {}, "properties": {}}
    ]
    assert "calling on_finish in place of step work" in run.log_text("workflow_outcome")


@pytest.mark.workflow("state-callback-fails")
def test_a_callback_that_raises_is_red_and_the_run_keeps_its_colour(run, suite):
    """CDAP's testWorkflowLocalDatasets, 4: ``destroy`` throws, and the run is COMPLETED."""
    assert run.state == "success"
    assert [body["status"] for body in posted(suite, "state-callback-fails/workflow")] == [
        "completed"
    ]
    assert run.task_states == {
        "work": "success",
        "workflow_outcome": "success",
        "callback_on_finish": "failed",
        "hooks_done": "success",
        "workflow_status": "success",
    }
    record = run.xcoms("callback_on_finish")["mantle_error"]
    assert record["message"] == "callbacks.on_finish: RuntimeError: cannot clean up"
    assert "cannot clean up" in run.log_text("callback_on_finish")


@pytest.mark.workflow("state-callback-fails")
def test_a_step_s_callback_that_cannot_be_imported_is_kept_beside_the_step(run):
    kept = run.xcoms("work")["mantle_on_finish"]
    assert "has no" in json.dumps(kept)
    assert kept["succeeded"] is True


@pytest.mark.workflow("state-refused")
def test_raising_before_the_start_fails_a_real_run(run, suite):
    assert run.state == "failed"
    assert [body["causes"] for body in posted(suite, "state-refused/workflow")] == [
        {"check": "state-refused may not start"}
    ]
    assert run.task_states["work"] == "upstream_failed"


@pytest.mark.workflow("call-back")
def test_a_report_tells_each_cause_and_what_was_noted(run):
    log = run.log_text("callback_on_finish")
    pieces = run.output("note")["result"]
    assert f"run {run.run_id} is failed, pieces: {pieces}" in log
    assert "order failed: " in log
    assert run.task_states["callback_on_finish"] == "success"


@pytest.mark.workflow("call-back")
def test_a_listener_logs_in_the_task_that_it_hears_of(run):
    assert "call-back: note gave out ['result']" in run.log_text("note")
    assert "call-back failed: " in run.log_text("callback_on_finish")
