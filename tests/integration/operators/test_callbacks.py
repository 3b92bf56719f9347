"""Who is called when a step or a workflow has ended, and that it changes nothing."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import CALLBACK, ERROR, OUTCOME, STATE, WorkflowGraph
from mantle_provider.operators.finish import FINISHED
from mantle_provider.operators.run_reader import RunReader
from mantle_provider.workflow.model import LifecycleHooks, Retry, Step, Workflow
from support import observers
from support.runs import FakeRun
from support.steps import call

FINISH = "support.observers.step_finished"


@pytest.fixture(autouse=True)
def heard():
    observers.HEARD.clear()
    return observers.HEARD


def operator(name="a", path="support.observers.Locking", **params):
    return Step(name=name, action="airflow/operator", params={"operator": path, **params})


def run_of(*steps, **keys):
    run_keys = {key: keys.pop(key) for key in ("conf", "started_ago") if key in keys}
    return FakeRun(Workflow(name="test", steps=steps, **keys), **run_keys)


def end(run, task_id, **tries):
    with suppress(Exception):
        run.run(task_id, **tries)


def test_a_step_that_completes_is_told_so(heard):
    run = run_of(call(on_finish_callback=FINISH))
    run.run("a")
    assert heard == [("step", "a", True)]
    assert run.xcoms["a", FINISHED] == {"succeeded": True, "errors": []}


def test_a_callback_gets_only_what_it_has_parameters_for(heard):
    run_of(call(on_finish_callback="support.observers.step_finished_alone")).run("a")
    assert heard == [("alone", True)]


def test_a_callback_that_takes_anything_gets_all(heard):
    run_of(call(on_finish_callback="support.observers.step_finished_with_anything")).run("a")
    assert heard == [("anything", ["context", "succeeded"])]


def test_a_callback_that_nothing_would_await_is_refused():
    run = run_of(call(on_finish_callback="support.observers.step_finished_elsewhere"))
    run.run("a")
    assert run.xcoms["a", FINISHED]["errors"] == [
        "callbacks.on_finish of step a: ConfigurationError: "
        '"step_finished_elsewhere" is async, but nothing awaits it'
    ]


def test_a_step_that_runs_out_of_time_is_told(heard):
    step = call(
        "a",
        "support.functions.wait",
        30,
        on_finish_callback=FINISH,
        timeout=timedelta(milliseconds=100),
    )
    end(run_of(step), "a")
    assert heard == [("step", "a", False)]


def test_a_step_that_fails_is_told_after_its_last_attempt(heard):
    step = call("a", "support.functions.fail_with", "x", on_finish_callback=FINISH, retry=Retry(2))
    run = run_of(step)
    end(run, "a")
    assert heard == []
    end(run, "a", try_number=2)
    assert heard == [("step", "a", False)]


@pytest.mark.parametrize(
    "step",
    [
        call("a", "support.functions.echo", "{{ inputs.gone.x }}", on_finish_callback=FINISH),
        call("a", "support.functions.nothing", on_finish_callback=FINISH),
        call("a", condition="inputs.gone", on_finish_callback=FINISH),
    ],
    ids=["parameters", "lookup", "condition"],
)
def test_a_failure_before_the_action_is_told_too(step, heard):
    run = run_of(step)
    end(run, "a")
    assert heard == [("step", "a", False)]


def test_a_step_that_does_not_run_is_not_told(heard):
    run = run_of(call(condition="false", on_finish_callback=FINISH))
    with pytest.raises(AirflowSkipException):
        run.run("a")
    run.run(OUTCOME)
    assert heard == []


def test_a_step_that_the_deadline_keeps_from_starting_is_not_told(heard):
    run = run_of(
        call(on_finish_callback=FINISH),
        timeout=timedelta(minutes=1),
        started_ago=timedelta(minutes=2),
    )
    with pytest.raises(WorkflowError):
        run.run("a")
    end(run, OUTCOME)
    assert heard == []


def test_a_step_that_skips_itself_has_done_its_work(heard):
    run = run_of(call("a", "support.observers.skip", on_finish_callback=FINISH))
    with pytest.raises(AirflowSkipException):
        run.run("a")
    assert heard == [("step", "a", True)]


@pytest.mark.parametrize("callback", ["step_finished_badly", "step_finished_with_a_wait", "gone"])
def test_a_callback_that_fails_changes_nothing(callback):
    run = run_of(
        call("a", "support.functions.echo", 1, on_finish_callback=f"support.observers.{callback}")
    )
    run.run("a")
    assert (run.states["a"], run.output("a")) == ("success", {"result": 1})
    assert len(run.xcoms["a", FINISHED]["errors"]) == 1


def test_what_a_callback_raises_is_kept():
    run = run_of(call(on_finish_callback="support.observers.step_finished_badly"))
    run.run("a")
    assert run.xcoms["a", FINISHED] == {
        "succeeded": True,
        "errors": ["callbacks.on_finish of step a: RuntimeError: badly, True"],
    }


def test_a_failure_keeps_its_own_cause_when_its_callback_fails():
    step = call(
        "a",
        "support.functions.fail_with",
        "x",
        on_finish_callback="support.observers.step_finished_badly",
    )
    run = run_of(step)
    with pytest.raises(RuntimeError, match="^told: x$"):
        run.run("a")
    assert run.record("a")["message"] == "told: x"


def test_the_outcome_tells_a_killed_step_after_its_verdict(heard):
    run = run_of(call(on_finish_callback=FINISH), call("b", on_finish_callback=FINISH))
    run.states["a"] = "failed"
    run.run("b")
    with pytest.raises(AirflowFailException):
        run.run(OUTCOME)
    assert heard == [("step", "b", True), ("step", "a", False)]
    assert run.xcoms[OUTCOME, FINISHED] == {"a": {"succeeded": False, "errors": []}}
    assert run.xcoms[OUTCOME, STATE]["status"] == "failed"


def test_a_step_that_died_while_it_called_is_told_again_by_the_outcome(heard):
    run = run_of(call("a", "support.functions.fail_with", "x", on_finish_callback=FINISH))
    end(run, "a")
    del run.xcoms["a", FINISHED]
    end(run, OUTCOME)
    assert heard == [("step", "a", False)] * 2


@pytest.mark.parametrize(("state", "succeeded"), [("failed", False), ("success", True)])
def test_a_step_that_ends_otherwise_than_it_was_told_hears_the_truth_last(heard, state, succeeded):
    """It was killed, or marked by a user, after its own process had called."""
    function = "echo" if state == "failed" else "fail_with"
    run = run_of(call("a", f"support.functions.{function}", "x", on_finish_callback=FINISH))
    end(run, "a")
    run.states["a"] = state
    end(run, OUTCOME)
    assert heard == [("step", "a", not succeeded), ("step", "a", succeeded)]
    assert run.xcoms[OUTCOME, FINISHED] == {"a": {"succeeded": succeeded, "errors": []}}


def test_the_outcome_does_not_wait_for_ever_for_a_dead_step_s_callback(monkeypatch):
    monkeypatch.setattr("mantle_provider.operators.finish._SECONDS_IN_PLACE", 0.1)
    run = run_of(call("a", on_finish_callback="support.observers.step_finished_much_later"))
    run.states["a"] = "failed"
    end(run, OUTCOME)
    assert run.xcoms[OUTCOME, FINISHED]["a"]["errors"] == [
        "callbacks.on_finish of step a: Interrupted: it took too long"
    ]
    assert run.xcoms[OUTCOME, STATE]["failed_step"] == "a"


def test_a_callback_that_fails_in_the_outcome_does_not_change_the_verdict():
    run = run_of(call(on_finish_callback="support.observers.step_finished_badly"))
    run.states["a"] = "failed"
    with pytest.raises(AirflowFailException, match='^workflow failed at step "a": killed'):
        run.run(OUTCOME)
    assert run.xcoms[OUTCOME, FINISHED] == {
        "a": {
            "succeeded": False,
            "errors": ["callbacks.on_finish of step a: RuntimeError: badly, False"],
        }
    }


def test_a_step_that_a_user_marked_success_is_told_by_the_outcome(heard):
    run = run_of(call(on_finish_callback=FINISH))
    run.states["a"] = "success"
    run.run(OUTCOME)
    assert heard == [("step", "a", True)]


def test_a_hook_may_have_a_callback(heard):
    hooks = LifecycleHooks(on_finish=(call("h", on_finish_callback=FINISH),))
    run = run_of(call(), hooks=hooks)
    run.run("a")
    run.run(OUTCOME)
    run.run("on_finish.h")
    assert heard == [("step", "h", True)]


def test_an_operator_of_the_users_is_told_of_its_step_and_of_the_workflow(heard):
    run = run_of(operator(lock="{{ 'a' + 'b' }}"))
    run.run("a")
    run.run(OUTCOME)
    run.run(CALLBACK)
    assert heard == [
        ("operator", "ab", True),
        ("operator and workflow", "{{ 'a' + 'b' }}", "completed"),
    ]


def test_an_operator_that_was_killed_is_told_by_the_outcome(heard):
    run = run_of(operator(lock="x"))
    run.states["a"] = "failed"
    end(run, OUTCOME)
    run.run(CALLBACK)
    assert heard == [("operator", "x", False), ("operator and workflow", "x", "failed")]


def test_a_method_of_the_same_name_of_somebody_elses_is_left_alone():
    run = run_of(operator(path="support.observers.Plain"))
    run.run("a")
    assert (run.states["a"], run.dag.task_ids) == ("success", ["a"])


def test_an_operator_that_wants_to_be_called_back_brings_the_tasks_for_it():
    assert run_of(operator(lock="x")).dag.task_ids == [
        "a",
        "workflow_outcome",
        "callback_on_finish",
        "hooks_done",
        "workflow_status",
    ]


def test_the_workflow_s_callback_is_told_how_it_ended(heard):
    run = run_of(call(), on_finish_callback="support.observers.workflow_finished")
    run.run("a")
    run.run(OUTCOME)
    run.run(CALLBACK)
    assert heard == [("workflow", "manual__1", "completed", {})]


def test_a_callback_that_fails_is_seen_in_its_task(heard):
    run = run_of(
        operator(lock="x", fails=True),
        on_finish_callback="support.observers.workflow_finished_badly",
        listeners=("support.observers.Journal",),
    )
    end(run, "a")
    end(run, OUTCOME)
    heard.clear()
    with pytest.raises(AirflowFailException):
        run.run(CALLBACK)
    message = "callbacks.on_finish: ValueError: badly, failed"
    assert run.xcoms[CALLBACK, ERROR]["message"] == message
    assert heard == [
        ("operator and workflow", "x", "failed"),
        ("workflow failed", "failed", "no lock"),
    ]


def test_a_callback_that_cannot_be_imported_fails_its_task_and_no_other():
    run = run_of(call(), on_finish_callback="support.observers.gone")
    run.run("a")
    run.run(OUTCOME)
    with pytest.raises(AirflowFailException) as caught:
        run.run(CALLBACK)
    assert str(caught.value) == (
        "callbacks.on_finish: ConfigurationError: cannot import "
        '"support.observers.gone": module "support.observers" has no "gone"'
    )


def test_a_lost_outcome_is_told_as_such(heard):
    run = run_of(call(), on_finish_callback="support.observers.workflow_finished")
    run.run("a")
    run.states[OUTCOME] = "failed"
    run.run(CALLBACK)
    assert heard == [("workflow", "manual__1", "failed", {})]


def test_a_refused_run_calls_nobody(heard):
    run = run_of(
        call(),
        max_parallel_executions=1,
        on_limit="reject",
        on_finish_callback="support.observers.workflow_finished",
    )
    run.states |= {"workflow_admission": "failed", "a": "upstream_failed", OUTCOME: "failed"}
    with pytest.raises(AirflowSkipException):
        run.run(CALLBACK)
    assert heard == []


def test_a_callback_of_an_earlier_verdict_is_named_by_the_outcome():
    run = run_of(call(), on_finish_callback="support.observers.workflow_finished")
    run.run("a")
    run.states[CALLBACK] = "success"
    run.enter(OUTCOME)
    reader = RunReader(run.context["ti"], WorkflowGraph(()))
    assert reader.ended_hooks() == [CALLBACK]
