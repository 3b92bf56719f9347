"""The outcome's verdict on a run, and what hooks read of it."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from mantle_provider.errors import ActionError, WorkflowError
from mantle_provider.lifecycle import ERROR, FAILURE_FIELDS, STATE
from mantle_provider.operators.run_reader import HOOKS_BEGAN_AT, STARTED_AT
from mantle_provider.workflow.model import LifecycleHooks, Retry, Workflow
from support.runs import FakeRun
from support.steps import call

EXECUTION = (
    "{{ [execution.status, execution.error, execution.failed_step, execution.failed_in, "
    "execution.failed_steps, execution.failed_hooks] }}"
)


def run_of(*steps, on_success=(), on_failure=(), on_finish=(), hooks_timeout=None, **keys):
    started_ago = keys.pop("started_ago", timedelta())
    hooks = LifecycleHooks(hooks_timeout, on_success, on_failure, on_finish)
    return FakeRun(Workflow(name="test", steps=steps, hooks=hooks, **keys), started_ago=started_ago)


def fail(run, task_id, message, *, at):
    run.states[task_id] = "failed"
    run.durations[task_id] = 1.0
    run.xcoms[task_id, STARTED_AT] = at - 1.0
    run.xcoms[task_id, ERROR] = {
        "phase": "EXECUTION",
        "step": task_id,
        "message": message,
        "type": "ValueError",
        "try_number": 1,
        "at": "2026-01-01T00:00:00+00:00",
    }


def judge(run):
    with pytest.raises(AirflowFailException) as caught:
        run.run("workflow_outcome")
    return str(caught.value)


def test_a_completed_workflow_succeeds():
    hook = call("h", "support.functions.echo", EXECUTION)
    run = run_of(call("a"), call("b", condition="false"), on_finish=(hook,))
    run.states["a"] = "success"
    with pytest.raises(AirflowSkipException):
        run.run("b")
    run.run("workflow_outcome")
    run.run("on_finish.h")
    assert run.output("on_finish.h") == {"result": ["completed", None, None, None, [], []]}


def test_the_first_failure_in_time_is_the_cause():
    run = run_of(
        call("a"),
        call("b"),
        call("c"),
        on_failure=(call("h", "support.functions.echo", EXECUTION),),
    )
    fail(run, "a", "third", at=30.0)
    fail(run, "b", "first", at=10.0)
    fail(run, "c", "second", at=20.0)
    assert judge(run) == 'workflow failed at step "b": first'
    run.run("on_failure.h")
    assert run.output("on_failure.h") == {
        "result": ["failed", "first", "b", "steps", ["b", "c", "a"], []]
    }


def test_a_killed_step_is_a_cause_in_words():
    run = run_of(call("a"), on_failure=(call("h", "support.functions.echo", EXECUTION),))
    run.states["a"] = "failed"
    assert judge(run) == 'workflow failed at step "a": killed, lost or marked failed'


def test_a_failure_has_the_fields_that_are_checked_in_a_file():
    read = "{{ steps['a'].failure }}"
    run = run_of(call("a"), on_failure=(call("h", "support.functions.echo", read),))
    fail(run, "a", "broken", at=1.0)
    judge(run)
    run.run("on_failure.h")
    assert tuple(run.output("on_failure.h")) == FAILURE_FIELDS


def test_failed_in_follows_failed_hooks_after_a_failure():
    run = run_of(
        call("a"),
        on_failure=(call("x"),),
        on_finish=(call("h", "support.functions.echo", EXECUTION),),
    )
    fail(run, "a", "broken", at=1.0)
    judge(run)
    fail(run, "on_failure.x", "hook broken", at=2.0)
    run.run("on_finish.h")
    assert run.output("on_finish.h") == {
        "result": ["failed", "broken", "a", "on_failure", ["a"], ["x"]]
    }


def test_a_failed_hook_of_a_completed_workflow_is_named_by_all_three():
    run = run_of(
        call("a"),
        on_success=(call("x"),),
        on_finish=(call("h", "support.functions.echo", EXECUTION),),
    )
    run.states["a"] = "success"
    run.run("workflow_outcome")
    fail(run, "on_success.x", "hook broken", at=2.0)
    run.run("on_finish.h")
    assert run.output("on_finish.h") == {
        "result": ["completed", "hook broken", "x", "on_success", [], ["x"]]
    }


def test_a_lost_outcome_is_a_failed_run_without_a_failed_step():
    run = run_of(call("a"), on_failure=(call("h", "support.functions.echo", EXECUTION),))
    run.states |= {"a": "success", "workflow_outcome": "failed"}
    run.run("on_failure.h")
    assert run.output("on_failure.h") == {
        "result": ["failed", "outcome lost", None, "steps", [], []]
    }


def test_a_verdict_that_does_not_fit_the_outcome_any_more_is_not_read():
    run = run_of(call("a"), on_finish=(call("h", "support.functions.echo", EXECUTION),))
    run.states["a"] = "success"
    run.run("workflow_outcome")
    run.states["workflow_outcome"] = "failed"
    run.run("on_finish.h")
    assert run.output("on_finish.h")["result"][:2] == ["failed", "outcome lost"]


def test_the_deadline_makes_a_failure_a_timeout():
    run = run_of(
        call("a"),
        on_failure=(call("h", "support.functions.echo", EXECUTION),),
        timeout=timedelta(minutes=5),
        started_ago=timedelta(minutes=6),
    )
    fail(run, "a", "cut", at=run.dag_run.start_date.timestamp() + 301)
    assert judge(run) == 'workflow timed_out at step "a": workflow timed out after 5m'
    assert run.xcoms["workflow_outcome", STATE]["status"] == "timed_out"


def test_a_hook_reads_the_output_of_the_block_that_ran():
    same = call("notify", "support.functions.echo", "{{ execution.status }}")
    read = call("h", "support.functions.echo", "{{ hooks.notify.output.result }}")
    run = run_of(call("a"), on_success=(same,), on_failure=(same,), on_finish=(read,))
    fail(run, "a", "broken", at=1.0)
    judge(run)
    run.states["on_success.notify"] = "skipped"
    run.run("on_failure.notify")
    run.run("on_finish.h")
    assert run.output("on_finish.h") == {"result": "failed"}


def test_a_hook_reads_null_where_there_is_nothing():
    read = call(
        "h", "support.functions.echo", "{{ [steps.a.output, steps.a.error, steps.a.failure] }}"
    )
    run = run_of(call("a"), on_finish=(read,))
    run.states |= {"a": "upstream_failed", "workflow_outcome": "failed"}
    run.run("on_finish.h")
    assert run.output("on_finish.h") == {"result": [None, None, None]}


def test_a_step_that_a_mark_of_the_run_skipped_has_no_output():
    """A clear of another step can revive the run without it."""
    read = call("h", "support.functions.echo", "{{ [steps.b.output, steps.b.status] }}")
    run = run_of(call("a"), call("b"), on_finish=(read,))
    run.states |= {"a": "success", "b": "skipped"}
    judge(run)
    run.run("on_finish.h")
    assert run.output("on_finish.h") == {"result": [None, "NOT_RUN"]}


def test_hooks_share_one_budget_from_the_start_of_the_first():
    run = run_of(
        call("a"),
        on_success=(call("x"),),
        on_finish=(call("h"),),
        hooks_timeout=timedelta(seconds=1),
        started_ago=timedelta(seconds=10),
    )
    run.states |= {"a": "success", "workflow_outcome": "success"}
    run.run("on_success.x")
    run.xcoms["on_success.x", HOOKS_BEGAN_AT] -= 5
    with pytest.raises(Exception, match="^hooks timed out after 1s before this step could start$"):
        run.run("on_finish.h")
    assert run.record("on_finish.h")["type"] == "HooksTimeout"


def test_a_hook_of_a_run_that_was_started_anew_has_its_time_again():
    """Clearing a finished run gives it a new start; a hook that stays finished is of before."""
    run = run_of(
        call("a"),
        on_success=(call("x"),),
        on_finish=(call("h"),),
        hooks_timeout=timedelta(seconds=1),
    )
    run.states |= {"a": "success", "workflow_outcome": "success"}
    run.run("on_success.x")
    run.xcoms["on_success.x", HOOKS_BEGAN_AT] -= 5
    run.run("on_finish.h")
    assert run.states["on_finish.h"] == "success"


@pytest.mark.parametrize(
    "hook",
    [call("x"), call("x", "support.functions.fail_with_output")],
    ids=["worked", "failed"],
)
def test_a_hook_that_ran_for_an_earlier_verdict_is_not_read(hook):
    """A clear with Only Failed does not reach it."""
    expression = "{{ [hooks['x'].output, hooks['x'].error, execution.failed_hooks] }}"
    reading = call("h", "support.functions.echo", expression)
    run = run_of(call("a"), on_success=(hook,), on_finish=(reading,))
    run.states |= {"a": "success"}
    run.run("workflow_outcome")
    with suppress(ActionError):
        run.run("on_success.x")
    run.run("workflow_outcome", earlier_tries=1)
    run.run("on_finish.h")
    assert run.output("on_finish.h") == {"result": [None, None, []]}


def test_wrong_inputs_do_not_keep_hooks_from_running():
    run = run_of(call("a"), on_failure=(call("h"),))
    run.dag_run.conf = {"unknown": 1}
    run.run("on_failure.h")
    assert run.states["on_failure.h"] == "success"


def test_the_budget_of_hooks_counts_from_the_first_try_of_the_first_hook():
    """A retry clears what the try before has pushed, so the start is kept elsewhere."""
    hook = call("x", "support.functions.fail_with_output", retry=Retry(2))
    run = run_of(
        call("a"),
        on_success=(hook,),
        on_finish=(call("h"),),
        hooks_timeout=timedelta(minutes=1),
    )
    run.states |= {"a": "success", "workflow_outcome": "success"}
    for try_number in (1, 2):
        with pytest.raises(ActionError):
            run.run("on_success.x", try_number=try_number)
        if try_number == 1:
            first = run.xcoms["on_success.x", HOOKS_BEGAN_AT]
    assert run.xcoms["on_success.x", HOOKS_BEGAN_AT] == first
    run.run("on_finish.h")
    assert run.xcoms["on_finish.h", HOOKS_BEGAN_AT] == first


def test_a_retry_of_a_hook_that_would_pass_the_budget_is_refused():
    hook = call("x", "support.functions.fail_with_output", retry=Retry(2, delay=timedelta(hours=1)))
    run = run_of(call("a"), on_finish=(hook,), hooks_timeout=timedelta(minutes=1))
    run.states |= {"a": "success", "workflow_outcome": "success"}
    with pytest.raises(AirflowFailException, match="^no luck$"):
        run.run("on_finish.x")


def limited_run(*, unfinished, undecided, **keys):
    run = run_of(call("a"), max_parallel_executions=2, on_limit="reject", **keys)
    run.unfinished, run.undecided = iter(unfinished), iter(undecided)
    return run


@pytest.mark.parametrize(
    ("unfinished", "undecided"),
    [([2], [1, 1]), ([5], [4, 4]), ([3, 3], [1, 2, 2])],
    ids=["one at work", "three start with it", "one starts meanwhile"],
)
def test_a_run_within_the_limit_is_admitted(unfinished, undecided):
    run = limited_run(unfinished=unfinished, undecided=undecided)
    run.run("workflow_admission")
    assert run.states["workflow_admission"] == "success"


def test_a_run_above_the_limit_is_refused_with_its_reason():
    run = limited_run(unfinished=[4], undecided=[2, 2], on_finish=(call("h"),))
    message = "rejected: 2 runs are at work, and at most 2 are allowed"
    with pytest.raises(AirflowFailException) as caught:
        run.run("workflow_admission")
    assert str(caught.value) == message
    run.states["a"] = "upstream_failed"
    assert judge(run) == f"workflow failed: {message}"
    with pytest.raises(AirflowSkipException) as skipped:
        run.run("on_finish.h")
    assert str(skipped.value) == message


def test_a_step_that_the_deadline_kept_from_starting_is_cancelled():
    run = run_of(call("a"), timeout=timedelta(minutes=5), started_ago=timedelta(minutes=6))
    with pytest.raises(WorkflowError):
        run.run("a")
    assert judge(run) == "workflow timed_out: workflow timed out after 5m"
    state = run.xcoms["workflow_outcome", STATE]
    assert (state["status"], state["failed_step"]) == ("timed_out", None)
    assert state["nodes"]["a"]["status"] == "CANCELLED"


def test_what_fail_fast_stopped_is_killed_and_no_cause():
    run = run_of(call("a"), call("b"), fail_fast=True)
    fail(run, "b", 'stopped by fail_fast: step "a" failed', at=1.0)
    run.xcoms["b", ERROR]["type"] = "FailFast"
    fail(run, "a", "broken", at=2.0)
    assert judge(run) == 'workflow failed at step "a": broken'
    nodes = run.xcoms["workflow_outcome", STATE]["nodes"]
    assert (nodes["a"]["status"], nodes["b"]["status"]) == ("FAILED", "KILLED")


def warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def test_a_step_cleared_without_its_outcome_says_that_the_verdict_is_old(caplog):
    """It would be run again for nothing (DESIGN 3.6)."""
    run = run_of(call("a"), on_finish=(call("h"),))
    run.states |= {"workflow_outcome": "failed"}
    run.run("a", earlier_tries=1)
    assert warnings(caplog) == [
        "The verdict on this run is older than this try and stays as it is: the step was cleared "
        "without Downstream"
    ]


@pytest.mark.parametrize(
    ("outcome", "keys"),
    [(None, {"earlier_tries": 1}), ("failed", {"try_number": 2})],
    ids=["cleared with downstream", "not cleared"],
)
def test_a_step_that_runs_for_its_verdict_says_nothing(outcome, keys, caplog):
    retry = Retry(2, delay=timedelta(seconds=1))
    run = run_of(call("a", retry=retry), on_finish=(call("h"),))
    run.states |= {"workflow_outcome": outcome}
    run.run("a", **keys)
    assert warnings(caplog) == []


def test_an_outcome_cleared_without_its_hooks_says_that_they_do_not_run(caplog):
    hooks = (call("first", continue_on_error=True), call("last"))
    run = run_of(call("a"), on_success=hooks, on_finish=(call("h"),))
    run.states |= {
        "a": "success",
        "on_success.block_begin": "skipped",
        "on_success.first": "skipped",
        "on_success.first_done": "skipped",
        "on_success.last": "skipped",
        "on_finish.h": "success",
    }
    run.run("workflow_outcome")
    assert warnings(caplog) == [
        "These hooks are of an earlier verdict and do not run again: "
        "['on_finish.h', 'on_success.first', 'on_success.last']. Clear the step with Downstream "
        "and without Only Failed to have them run"
    ]
