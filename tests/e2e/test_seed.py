"""The workflow of the feature request for lifecycle hooks, in all three outcomes."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.e2e


def received_by_slack(suite, run, hook):
    """Return what the Slack server got from one hook, found by the hook's own output."""
    assert run.output(hook)["ok"] is True
    return suite.inbox.slack_messages()


@pytest.mark.workflow("seed-success")
def test_success_runs_on_success_and_on_finish(run, suite):
    assert run.state == "success"
    assert run.task_states == {
        "fetch-data": "success",
        "workflow_outcome": "success",
        "on_success.notify-team": "success",
        "on_failure.alert-ops": "skipped",
        "on_finish.cleanup": "success",
        "hooks_done": "success",
        "workflow_status": "success",
    }
    assert run.output("fetch-data")["status"] == 200
    message = {"channel": "#ops", "text": "Workflow completed successfully"}
    assert message in received_by_slack(suite, run, "on_success.notify-team")
    assert run.xcoms("workflow_outcome")["mantle_workflow_state"]["status"] == "completed"
    assert "workflow completed" in run.log_text("workflow_outcome")


@pytest.mark.workflow("seed-failed")
def test_failure_runs_on_failure_and_on_finish(run, suite):
    assert run.state == "failed"
    assert run.task_states == {
        "fetch-data": "failed",
        "workflow_outcome": "failed",
        "on_success.notify-team": "upstream_failed",
        "on_failure.alert-ops": "success",
        "on_finish.cleanup": "success",
        "hooks_done": "success",
        "workflow_status": "upstream_failed",
    }
    error = "http/request: GET /error returned 500"
    record = run.xcoms("fetch-data")["mantle_error"]
    assert (record["phase"], record["message"]) == ("EXECUTION", error)
    message = {"channel": "#ops-alerts", "text": f"Failed at fetch-data (steps): {error}"}
    assert message in received_by_slack(suite, run, "on_failure.alert-ops")
    state = run.xcoms("workflow_outcome")["mantle_workflow_state"]
    assert (state["status"], state["failed_step"], state["error"]) == (
        "failed",
        "fetch-data",
        error,
    )
    assert f'workflow failed at step \\"fetch-data\\": {error}' in run.log_text("workflow_outcome")


@pytest.mark.workflow("seed-timed-out")
def test_timeout_runs_on_failure_and_on_finish(run, suite):
    assert run.state == "failed"
    assert run.task_states == {
        "fetch-data": "failed",
        "workflow_outcome": "failed",
        "on_success.notify-team": "upstream_failed",
        "on_failure.alert-ops": "success",
        "on_finish.cleanup": "success",
        "hooks_done": "success",
        "workflow_status": "upstream_failed",
    }
    assert run.xcoms("fetch-data")["mantle_error"]["type"] == "WorkflowTimeout"
    error = "workflow timed out after 20s"
    message = {"channel": "#ops-alerts", "text": f"Failed at fetch-data (steps): {error}"}
    assert message in received_by_slack(suite, run, "on_failure.alert-ops")
    state = run.xcoms("workflow_outcome")["mantle_workflow_state"]
    assert (state["status"], state["failed_step"], state["error"]) == (
        "timed_out",
        "fetch-data",
        error,
    )


@pytest.mark.workflow("seed-success")
def test_cleanup_runs_exactly_once(run, suite):
    cleanups = [request for request in suite.inbox.requests if request.path == "/echo/seed-success"]
    assert [cleanup.method for cleanup in cleanups] == ["POST"]
