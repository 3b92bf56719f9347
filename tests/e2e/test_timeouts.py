"""What the workflow's ``timeout`` and ``hooks.timeout`` cut, and what no clock counts."""

from __future__ import annotations

from datetime import datetime

import psutil
import pytest
from e2e_scripts import script

pytestmark = pytest.mark.e2e


def posted(suite, path):
    """Return the bodies that arrived at one path of the test service."""
    return [request.body for request in suite.inbox.requests if request.path == path]


def timestamp(text):
    """Return the seconds since the epoch of a time in the REST API's form."""
    return datetime.fromisoformat(text).timestamp()


def commands_of(run):
    """Return the command lines of the processes that the run's steps have started."""
    wanted = {"AIRFLOW_CTX_DAG_ID": run.dag_id, "AIRFLOW_CTX_DAG_RUN_ID": run.run_id}.items()
    processes = psutil.process_iter(["cmdline", "environ"])
    return [
        process.info["cmdline"]
        for process in processes
        if wanted <= (process.info["environ"] or {}).items()
    ]


@script("timed-out-retry")
def close_the_pool_between_two_attempts(run):
    yield from run.until_state("try-again", "up_for_retry")
    run.suite.client.set_slots("timed-out-retry", 0)
    yield from run.until_older(76)
    run.suite.client.set_slots("timed-out-retry", 1)


@script("timed-out-queued")
def open_the_pool_after_the_time(run):
    yield from run.until_state("wait-for-slot", "scheduled")
    yield from run.until_older(12)
    held = run.states()
    run.suite.client.set_slots("timed-out-queued", 1)
    return held


@script("hook-in-full-pool")
def open_the_pool_late(run):
    yield from run.until_state("on_success.wait-for-slot", "scheduled")
    judged_at = timestamp(run.tasks()["workflow_outcome"]["end_date"])
    begun_at = timestamp(run.suite.client.run(run.dag_id, run.run_id)["start_date"])
    # Longer than the time of the workflow, and than that of its hooks, after the last main step.
    yield from run.until_older(judged_at - begun_at + 95)
    held = run.states()
    run.suite.client.set_slots("hook-in-full-pool", 1)
    return held


@pytest.mark.workflow("timed-out-running")
def test_a_running_step_is_cut_and_named(run, suite):
    assert run.state == "failed"
    assert run.task_states == {
        "quick": "success",
        "work": "failed",
        "next": "upstream_failed",
        "workflow_outcome": "failed",
        "on_success.celebrate": "upstream_failed",
        "on_failure.alert": "success",
        "on_finish.clean-up": "success",
        "hooks_done": "success",
        "workflow_status": "upstream_failed",
    }
    assert posted(suite, "/echo/timed-out-running") == [
        {
            "status": "timed_out",
            "failed_step": "work",
            "failed_in": "steps",
            "error": "workflow timed out after 45s",
            "work": "WorkflowTimeout",
            "next": "CANCELLED",
            "quick": "done",
        }
    ]


@pytest.mark.workflow("timed-out-running")
def test_what_a_cut_step_has_started_is_stopped(run):
    assert run.state == "failed"
    assert commands_of(run) == []


@pytest.mark.workflow("timed-out-deferred")
def test_a_deferred_step_is_cut_in_its_wait(run, suite):
    assert run.state == "failed"
    assert posted(suite, "/echo/timed-out-deferred") == [
        {
            "status": "timed_out",
            "failed_step": "wait",
            "error": "workflow timed out after 50s",
            "cause": "workflow timed out after 50s while this step ran",
        }
    ]
    assert run.task_states["on_finish.clean-up"] == "success"


@pytest.mark.workflow("timed-out-retry")
def test_no_attempt_starts_after_the_deadline(run, suite):
    assert run.state == "failed"
    assert posted(suite, "/echo/timed-out-retry") == [
        {
            "status": "timed_out",
            "failed_step": "try-again",
            "error": "workflow timed out after 1m15s",
            "cause": "workflow timed out after 1m15s before the next attempt could start",
        }
    ]
    assert run.task_states["on_finish.clean-up"] == "success"


@pytest.mark.workflow("retry-past-deadline")
def test_a_retry_that_would_pass_the_deadline_is_refused_at_once(run, suite):
    assert run.state == "failed"
    assert run.tasks["try-once"]["try_number"] == 1
    assert run.xcoms("try-once")["mantle_error"]["resolution"] == "fail"
    error = "bash/run: the command exited with code 4"
    assert posted(suite, "/echo/retry-past-deadline") == [{"status": "failed", "error": error}]


@pytest.mark.workflow("timed-out-queued")
def test_a_step_that_waits_for_a_slot_holds_the_hooks_and_does_not_start(run, suite):
    assert run.seen == {
        "wait-for-slot": "scheduled",
        **dict.fromkeys(run.task_states.keys() - {"wait-for-slot"}),
    }
    assert run.state == "failed"
    assert posted(suite, "/echo/timed-out-queued") == [
        {
            "status": "timed_out",
            "failed_step": None,
            "error": "workflow timed out after 8s",
            "step": "CANCELLED",
            "next": "CANCELLED",
        }
    ]
    assert run.xcoms("wait-for-slot")["mantle_error"]["message"] == (
        "workflow timed out after 8s before this step could start"
    )
    assert run.task_states["on_finish.clean-up"] == "success"


@pytest.mark.workflow("hook-in-full-pool")
def test_a_hook_may_wait_for_a_slot_longer_than_any_timeout(run):
    assert run.seen["on_success.wait-for-slot"] == "scheduled"
    assert run.state == "success"
    assert run.output("on_success.wait-for-slot") == {"result": "it had to wait"}


@pytest.mark.workflow("hook-in-full-pool")
def test_the_hooks_time_begins_when_the_first_of_them_starts(run):
    first = run.tasks["on_success.wait-for-slot"]
    began_at = run.xcoms("on_finish.clean-up")["mantle_hooks_began_at"]
    assert began_at == pytest.approx(timestamp(first["start_date"]), abs=2)
    assert run.task_states["on_finish.clean-up"] == "success"


@pytest.mark.workflow("hooks-timeout-used-up")
def test_hooks_that_have_no_time_left_fail_and_say_so(run):
    assert run.state == "success"
    assert run.task_states == {
        "work": "success",
        "workflow_outcome": "success",
        "on_success.block_begin": "success",
        "on_success.too-slow": "failed",
        "on_success.too-late": "upstream_failed",
        "on_finish.clean-up": "failed",
        "hooks_done": "success",
        "workflow_status": "success",
    }
    errors = [
        run.xcoms(hook)["mantle_error"] for hook in ("on_success.too-slow", "on_finish.clean-up")
    ]
    assert [(error["type"], error["message"]) for error in errors] == [
        ("HooksTimeout", "hooks timed out after 15s while this step ran"),
        ("HooksTimeout", "hooks timed out after 15s before this step could start"),
    ]
    assert commands_of(run) == []


@pytest.mark.workflow("hooks-timeout-retry")
def test_the_attempts_of_a_hook_share_the_hooks_time(run):
    assert run.state == "success"
    hook = run.tasks["on_finish.stubborn"]
    assert (hook["state"], hook["try_number"]) == ("failed", 2)
    assert run.xcoms("on_finish.stubborn")["mantle_error"]["message"] == (
        "hooks timed out after 3m while this step ran"
    )
    began_at = run.xcoms("on_finish.stubborn")["mantle_hooks_began_at"]
    first, second = run.tries("on_finish.stubborn")
    assert began_at == pytest.approx(timestamp(first["start_date"]), abs=2)
    # A clock that began anew with the second attempt would have cut it twelve seconds later.
    assert 180 <= timestamp(second["end_date"]) - began_at < 192
