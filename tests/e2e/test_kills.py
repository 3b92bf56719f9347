"""Processes that are killed: steps, the outcome and hooks, on a machine that lives on."""

from __future__ import annotations

from datetime import datetime

import pytest
from e2e_scripts import script

pytestmark = pytest.mark.e2e

KILLED = "killed, lost or marked failed"
FAILED = {"status": "failed", "failed_step": "work", "error": KILLED, "work": "KILLED"}


def kill_at_work(run, path, task_id="work", try_number=1):
    """Kill a try of a task once its call has arrived at the test service."""
    received = run.suite.inbox.requests
    yield from run.until(lambda: sum(request.path == path for request in received) >= try_number)
    yield from run.kill(task_id, try_number)


@script("killed-no-retry", "killed-once", "killed-raised-retries", "killed-with-rules")
def kill_the_first_try(run):
    seconds = 15 if run.dag_id == "killed-once" else 60
    yield from kill_at_work(run, f"/slow/{seconds}/{run.dag_id}")


@script("killed-each-try")
def kill_each_try(run):
    for try_number in (1, 2):
        yield from kill_at_work(run, "/slow/60/killed-each-try", try_number=try_number)


@script("killed-outcome")
def kill_the_outcome(run):
    yield from run.kill("workflow_outcome")


@script("outcome-lost")
def kill_each_outcome(run):
    for try_number in (1, 2, 3, 4):
        yield from run.kill("workflow_outcome", try_number)


@script("killed-hook")
def kill_two_hooks(run):
    yield from kill_at_work(run, "/slow/60/killed-hook/first", "on_success.first")
    yield from kill_at_work(run, "/slow/15/killed-hook/again", "on_finish.again")


def calls(suite, path):
    return [request.body for request in suite.inbox.requests if request.path == path]


def hook_calls(suite, workflow):
    """Return block -> the bodies that its hook has sent."""
    blocks = ("on_success", "on_failure", "on_finish")
    return {
        block: bodies for block in blocks if (bodies := calls(suite, f"/echo/{workflow}/{block}"))
    }


def moment(task, edge):
    return datetime.fromisoformat(task[edge])


@pytest.mark.workflow("killed-no-retry")
def test_a_killed_step_runs_on_failure_once_and_the_cause_says_killed(run, suite):
    assert run.state == "failed"
    assert hook_calls(suite, run.dag_id) == {
        "on_failure": [FAILED],
        "on_finish": [{"status": "failed"}],
    }
    assert (run.task_states["work"], run.tasks["work"]["try_number"]) == ("failed", 1)
    assert calls(suite, "/slow/60/killed-no-retry") == [None]


@pytest.mark.workflow("killed-each-try")
def test_on_failure_comes_after_the_last_attempt_when_each_is_killed(run, suite):
    assert run.state == "failed"
    assert hook_calls(suite, run.dag_id) == {
        "on_failure": [FAILED],
        "on_finish": [{"status": "failed"}],
    }
    work = run.tasks["work"]
    assert (work["state"], work["try_number"]) == ("failed", 2)
    hook = run.tasks["on_failure.slow"]
    assert hook["try_number"] == 1
    assert moment(hook, "start_date") > moment(work, "end_date")
    assert calls(suite, "/slow/60/killed-each-try") == [None, None]


@pytest.mark.workflow("killed-once")
def test_an_attempt_after_a_killed_one_may_still_complete_the_run(run, suite):
    assert run.state == "success"
    assert run.tasks["work"]["try_number"] == 2
    assert hook_calls(suite, run.dag_id) == {
        "on_success": [{"status": "completed"}],
        "on_finish": [{"status": "completed"}],
    }


@pytest.mark.workflow("killed-raised-retries")
def test_retries_that_the_file_does_not_grant_repeat_no_killed_step(run, suite):
    """A cluster policy of the suite gives this step three retries."""
    work = run.tasks["work"]
    assert (work["state"], work["max_tries"]) == ("failed", 3)
    assert calls(suite, "/slow/60/killed-raised-retries") == [None]
    assert "attempt 1 was killed, and `retry` grants no other" in run.log_text("work", 2)
    assert run.state == "failed"
    assert hook_calls(suite, run.dag_id) == {
        "on_failure": [FAILED],
        "on_finish": [{"status": "failed"}],
    }


@pytest.mark.workflow("killed-with-rules")
def test_retries_that_a_rule_grants_repeat_no_killed_step(run, suite):
    work = run.tasks["work"]
    assert (work["state"], work["max_tries"]) == ("failed", 5)
    assert calls(suite, "/slow/60/killed-with-rules") == [None]
    assert "attempt 1 was killed, and `retry` grants no other" in run.log_text("work", 2)
    assert (run.state, run.task_states["recover"]) == ("failed", "success")
    assert hook_calls(suite, run.dag_id) == {"on_failure": [FAILED]}


@pytest.mark.workflow("killed-outcome")
def test_a_killed_outcome_is_made_again_and_hooks_run_once(run, suite):
    assert run.state == "success"
    outcome = run.tasks["workflow_outcome"]
    assert (outcome["state"], outcome["try_number"]) == ("success", 2)
    assert hook_calls(suite, run.dag_id) == {
        "on_success": [{"status": "completed"}],
        "on_finish": [{"status": "completed"}],
    }


@pytest.mark.workflow("outcome-lost")
def test_an_outcome_that_is_lost_for_good_is_a_failed_run(run, suite):
    assert run.state == "failed"
    outcome = run.tasks["workflow_outcome"]
    assert (outcome["state"], outcome["try_number"]) == ("failed", 4)
    lost = {"status": "failed", "failed_step": None, "error": "outcome lost", "work": "COMPLETED"}
    assert hook_calls(suite, run.dag_id) == {
        "on_failure": [lost],
        "on_finish": [{"status": "failed"}],
    }


@pytest.mark.workflow("killed-hook")
def test_a_killed_hook_ends_its_block_and_not_the_run(run, suite):
    assert run.state == "success"
    states = run.task_states
    assert (states["on_success.first"], states["on_success.second"]) == (
        "failed",
        "upstream_failed",
    )
    assert calls(suite, "/slow/60/killed-hook/first") == [None]


@pytest.mark.workflow("killed-hook")
def test_a_killed_hook_that_may_try_again_does(run, suite):
    again = run.tasks["on_finish.again"]
    assert (again["state"], again["try_number"]) == ("success", 2)
    assert calls(suite, "/echo/killed-hook") == [
        {
            "status": "completed",
            "failed_step": "first",
            "failed_in": "on_success",
            "error": KILLED,
            "failed_hooks": ["first"],
        }
    ]
