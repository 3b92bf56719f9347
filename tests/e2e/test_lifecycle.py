"""Which hooks run, what they know, and what colour the run gets."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.e2e


def posted(suite, path):
    """Return the bodies that arrived at one path of the test service."""
    return [request.body for request in suite.inbox.requests if request.path == path]


@pytest.mark.workflow("plain-failure")
def test_a_failed_step_without_hooks_is_a_red_run(run):
    assert run.state == "failed"
    assert run.task_states == {"fetch-prices": "failed", "publish": "upstream_failed"}


@pytest.mark.workflow("plain-failure")
def test_default_retries_of_the_cluster_do_not_leak_in(run):
    """The suite's Airflow is configured with ``default_task_retries = 3``."""
    failed = run.tasks["fetch-prices"]
    assert (failed["try_number"], failed["max_tries"]) == (1, 0)


@pytest.mark.workflow("retries-used-up")
def test_max_attempts_counts_the_first_and_hooks_wait_for_the_last(run, suite):
    assert run.state == "failed"
    assert run.tasks["try-hard"]["try_number"] == 3
    assert posted(suite, "/echo/retries-used-up") == [{"step": "try-hard", "tries": "ActionError"}]


@pytest.mark.workflow("hook-names")
def test_hooks_may_be_named_as_our_own_tasks_and_as_steps(run):
    assert run.state == "success"
    states = run.task_states
    assert states["on_success.block_begin"] == "success"
    assert states["on_success.begin"] == "failed"
    assert states["on_success.begin_done"] == "success"
    assert run.output("on_success.done") == {"result": "true main"}
    assert run.output("on_finish.done") == {"result": "finished"}


@pytest.mark.workflow("all-skipped")
def test_a_run_of_skipped_steps_is_completed_and_its_hooks_run(run):
    assert run.state == "success"
    assert (run.task_states["never"], run.task_states["after"]) == ("skipped", "skipped")
    assert run.output("on_success.note") == {"result": "SKIPPED completed"}
    assert run.task_states["on_finish.clean-up"] == "success"


@pytest.mark.workflow("tolerated")
def test_a_tolerated_failure_does_not_run_on_failure(run):
    assert run.state == "success"
    states = run.task_states
    assert (states["optional"], states["on_failure.alert"]) == ("failed", "skipped")
    assert run.output("after") == {"result": "FAILED 418"}
    assert run.output("on_success.celebrate") == {"result": "completed true"}


@pytest.mark.workflow("first-cause")
def test_the_cause_is_the_first_failure_and_other_branches_finish_before_the_hooks(run, suite):
    assert run.state == "failed"
    assert posted(suite, "/echo/first-cause") == [
        {
            "failed_step": "fast-branch",
            "failed_steps": ["fast-branch", "slow-branch"],
            "blocked": "CANCELLED",
            "healthy": "fine",
        }
    ]


@pytest.mark.workflow("step-timeout")
def test_a_step_that_runs_out_of_time_has_failed_and_not_timed_out_the_workflow(run, suite):
    assert run.state == "failed"
    assert posted(suite, "/echo/step-timeout") == [{"status": "failed", "type": "StepTimeout"}]


@pytest.mark.workflow("unset-values")
def test_what_there_is_not_is_null(run, suite):
    assert posted(suite, "/echo/unset-values") == [
        {
            "failed_step": None,
            "failed_in": None,
            "error": None,
            "failed_steps": [],
            "step_error": None,
            "note": None,
        }
    ]


@pytest.mark.workflow("braces")
def test_an_answer_that_looks_like_an_expression_is_never_evaluated(run):
    note = "{{ env.SECRET }} and {% raw %}"
    received = run.output("pass-on")["json"]["received"]
    assert received == {"alone": note, "within": f"note: {note}"}
    assert run.output("through-an-operator") == {"result": note}


def test_a_run_that_a_user_marks_failed_runs_no_hook(suite):
    client = suite.client
    client.unpause("cancelled")
    run_id = client.trigger("cancelled")
    suite.airflow.wait(
        lambda: client.task_states("cancelled", run_id).get("long-work"),
        "the long step to run",
        seconds=120,
        is_good=lambda state: state == "running",
    )
    client.mark_failed("cancelled", run_id)
    states = suite.airflow.wait(
        lambda: client.task_states("cancelled", run_id),
        "every task to end",
        seconds=120,
        is_good=lambda states: not {None, "running", "scheduled", "queued"} & {*states.values()},
    )
    assert client.run_state("cancelled", run_id) == "failed"
    assert states.pop("long-work") == "failed"
    assert set(states.values()) == {"skipped"}


def test_a_schedule_starts_runs_with_the_inputs_defaults(suite):
    client = suite.client
    client.unpause("every-minute")
    run_id = suite.airflow.wait(
        lambda: client.run_ids("every-minute", run_type="scheduled"),
        "a scheduled run of every-minute",
        seconds=150,
    )[0]
    run = suite.finished_run("every-minute", run_id)
    client.pause("every-minute")
    assert run.state == "success"
    assert run.output("multiply") == {"result": "14"}
