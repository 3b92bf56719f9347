"""What listeners hear, in which order, and that none of them changes anything."""

from __future__ import annotations

import pytest
from airflow.sdk.exceptions import AirflowFailException

from mantle_provider.check import check_text
from mantle_provider.lifecycle import CALLBACK, OUTCOME, STARTED
from mantle_provider.workflow.model import Input, LifecycleHooks, Retry, Workflow
from support import observers
from support.runs import FakeRun
from support.steps import call

JOURNAL = "support.observers.Journal"
BROKEN = "support.observers.Broken"


@pytest.fixture(autouse=True)
def heard():
    observers.HEARD.clear()
    return observers.HEARD


def run_of(*steps, listeners=(JOURNAL,), **keys):
    return FakeRun(Workflow(name="test", steps=steps, listeners=listeners, **keys))


def test_listeners_hear_of_a_run_in_its_order(heard):
    hooks = LifecycleHooks(on_success=(call("h"),))
    run = run_of(
        call("a", "support.observers.noting"), inputs=(Input("n", default=1),), hooks=hooks
    )
    for task_id in (STARTED, "a", OUTCOME, "on_success.h", CALLBACK):
        run.run(task_id)
    inputs = {"n": 1, "trigger": {}}
    assert heard == [
        ("started", "test", inputs),
        ("entered", "a", inputs),
        ("completed", "a", "python/call", "steps", {"n": 1, "trigger": {}}),
        ("entered", "h", inputs),
        ("completed", "h", "python/call", "on_success", {}),
        ("workflow completed", {"lock": {"name": "orders"}}),
    ]


def test_a_failed_step_is_entered_once_and_never_completed(heard):
    run = run_of(call("a", "support.functions.fail_with", "x", retry=Retry(2)))
    for try_number in (1, 2):
        with pytest.raises(RuntimeError):
            run.run("a", try_number=try_number)
    with pytest.raises(AirflowFailException):
        run.run(OUTCOME)
    run.run(CALLBACK)
    assert [event[:2] for event in heard] == [("entered", "a"), ("workflow failed", "failed")]


def test_a_step_whose_first_attempt_died_before_it_could_tell_is_entered_by_the_next(heard):
    run = run_of(call("a", retry=Retry(2)))
    run.states["a"] = "up_for_retry"
    run.run("a", try_number=2)
    assert [event[:2] for event in heard] == [("entered", "a"), ("completed", "a")]


def test_a_step_that_is_cleared_is_entered_again(heard):
    run = run_of(call("a"))
    run.run("a")
    run.run("a", earlier_tries=1)
    assert [event[0] for event in heard] == ["entered", "completed"] * 2


def test_a_skipped_step_is_not_entered(heard):
    run = run_of(call("a", condition="false"))
    with pytest.raises(Exception, match="^`if` is false: false$"):
        run.run("a")
    assert heard == []


def test_later_listeners_are_told_when_the_first_fails(heard):
    """Apitomy Flow's S16."""
    run = run_of(call("a", "support.functions.echo", 1), listeners=(BROKEN, JOURNAL))
    with pytest.raises(AirflowFailException) as caught:
        run.run(STARTED)
    assert str(caught.value) == f"on_workflow_started of {BROKEN}: RuntimeError: no start"
    run.run("a")
    run.run(OUTCOME)
    run.run(CALLBACK)
    assert [event[0] for event in heard] == [
        "started",
        "entered",
        "completed",
        "workflow completed",
    ]
    assert (run.states["a"], run.states[OUTCOME]) == ("success", "success")


def test_a_listener_that_cannot_be_imported_does_not_fail_a_step(heard):
    run = run_of(call("a", "support.functions.echo", 1), listeners=("support.gone.X", JOURNAL))
    run.run("a")
    assert (run.states["a"], [event[0] for event in heard]) == ("success", ["entered", "completed"])
    with pytest.raises(AirflowFailException):
        run.run(STARTED)


def test_a_listener_may_be_an_object_too(heard):
    run_of(call("a"), listeners=("support.observers.JOURNAL",)).run("a")
    assert [event[:2] for event in heard] == [("entered", "a"), ("completed", "a")]


def test_no_step_depends_on_how_listeners_take_the_start():
    dag = run_of(call("a")).dag
    assert dag.get_task("a").upstream_task_ids == {"workflow_started_done"}
    done = dag.get_task("workflow_started_done")
    assert (done.upstream_task_ids, done.trigger_rule) == ({STARTED}, "all_done")


def test_s7_the_listeners_are_those_of_the_start_and_a_null_one_is_refused(heard):
    """Apitomy's row S7: the run has a list of its own, whatever becomes of the file's."""
    paths = [JOURNAL]
    run = run_of(call("a"), listeners=tuple(paths))
    paths.append(BROKEN)
    run.run("a")
    assert [event[0] for event in heard] == ["entered", "completed"]

    text = "name: a\nlisteners: [null]\nsteps: [{name: a, action: text/chunk, params: {text: x}}]"
    assert [item.code for item in check_text(text).report.diagnostics] == ["wrong-type"]
