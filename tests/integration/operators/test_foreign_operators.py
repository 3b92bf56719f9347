"""Any Airflow operator as a step: its class, its fields, its way of waiting and skipping."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
    DownstreamTasksSkipped,
    TaskAwaitingInput,
    TaskDeferred,
)

from mantle_provider.errors import WorkflowError
from mantle_provider.operators.airflow import step_class
from mantle_provider.triggers.step import STOPPED_BY, TIME_IS_UP
from mantle_provider.workflow.model import Step, Workflow
from support.runs import FakeRun

HERE = "support.operators"


def run_of(operator, *, params=None, **keys):
    step = Step(
        name="a",
        action="airflow/operator",
        params={"operator": f"{HERE}.{operator}", **(params or {})},
        **keys,
    )
    return FakeRun(Workflow(name="test", steps=(step,)))


def test_the_class_keeps_its_name_and_module():
    mixed = step_class(BashOperator)
    assert issubclass(mixed, BashOperator)
    assert (mixed.__name__, mixed.__module__) == (BashOperator.__name__, BashOperator.__module__)
    assert step_class(BashOperator) is mixed


def test_template_fields_of_the_workflow_hold_cel():
    run = run_of("Echo", params={"text": "{{ 1 + 1 }}"})
    assert run.run("a").text == 2
    assert run.output("a") == {"result": 2}


def test_fields_that_the_operator_fills_itself_stay_jinja():
    run = run_of("Echo", params={"text": "x"})
    run.dag.get_task("a").own = "{{ task.task_id }}"
    assert run.run("a").own == "a"


def test_values_of_the_workflow_are_never_jinja():
    run = run_of("Echo", params={"text": "{% raw %}{{ '{{ task.task_id }}' }}"})
    run.run("a")
    assert run.output("a") == {"result": "{% raw %}{{ task.task_id }}"}


def test_a_name_that_looks_like_a_file_is_a_text():
    run = run_of("Echo", params={"text": "script.sh"})
    run.run("a")
    assert run.output("a") == {"result": "script.sh"}


def test_an_operator_without_work_reaches_a_worker():
    run = run_of("Empty")
    assert run.dag.get_task("a").inherits_from_empty_operator is False


def test_an_operator_that_starts_in_the_triggerer_starts_in_a_worker():
    run = run_of("FromTrigger")
    assert run.dag.get_task("a").start_from_trigger is False


@pytest.mark.parametrize("exception", [AirflowRescheduleException, TaskAwaitingInput, TaskDeferred])
def test_control_flow_passes_without_a_record(exception):
    run = run_of("Raise", params={"what": exception.__name__})
    with pytest.raises(exception):
        run.run("a")
    assert run.record("a") is None


def test_a_skip_of_the_operators_own_says_so():
    """A mark of the run skips tasks too, and must be told from it (DESIGN 3.6)."""
    run = run_of("Raise", params={"what": "AirflowSkipException"})
    with pytest.raises(AirflowSkipException):
        run.run("a")
    assert (run.record("a")["type"], run.record("a")["message"]) == ("action", "no need")


def test_a_deferral_waits_within_the_steps_time():
    run = run_of("Raise", params={"what": "TaskDeferred"}, timeout=timedelta(seconds=30))
    with pytest.raises(TaskDeferred) as caught:
        run.run("a")
    trigger = caught.value.trigger
    assert trigger.classpath == "airflow.providers.standard.triggers.temporal.DateTimeTrigger"
    assert 0 < trigger.end - time.time() <= 30
    # Airflow's own timeout comes after it, as a backstop.
    assert timedelta(seconds=60) < caught.value.timeout <= timedelta(seconds=90)


@pytest.mark.parametrize(
    ("timeout", "left"),
    [(None, None), (timedelta(seconds=30), timedelta(seconds=30))],
    ids=["without-limit", "within-the-steps-time"],
)
def test_a_wait_for_input_ends_with_the_steps_time(timeout, left):
    with pytest.raises(TaskAwaitingInput) as caught:
        run_of("Raise", params={"what": "TaskAwaitingInput"}, timeout=timeout).run("a")
    asked = caught.value.timeout
    assert asked is left if left is None else timedelta() < asked <= left


def test_a_step_comes_back_no_sooner_than_airflow_bears(monkeypatch):
    monkeypatch.setenv("AIRFLOW__WORKERS__MIN_HEARTBEAT_INTERVAL", "4")
    before = time.time()
    with pytest.raises(TaskDeferred) as deferred:
        run_of("Raise", params={"what": "TaskDeferred"}).run("a")
    with pytest.raises(AirflowRescheduleException) as rescheduled:
        run_of("Raise", params={"what": "AirflowRescheduleException"}).run("a")
    assert deferred.value.trigger.not_before >= before + 7
    assert rescheduled.value.reschedule_date.timestamp() >= before + 7


def test_a_wait_that_used_up_the_time_is_a_timeout_whatever_the_operator_says():
    run = run_of("Resume", timeout=timedelta(seconds=30))
    task = run.enter("a")
    with pytest.raises(WorkflowError, match="^step timed out after 30s$"):
        task.resume_execution("go_on", {"event": {STOPPED_BY: TIME_IS_UP}}, run.context)
    assert run.record("a")["type"] == "StepTimeout"


@pytest.mark.parametrize("event", [3, {STOPPED_BY: TIME_IS_UP}], ids=["its own", "the deadline's"])
@pytest.mark.parametrize(
    ("timeout", "message"),
    [
        (None, "workflow timed out after 1m while this step ran"),
        (timedelta(seconds=30), "step timed out after 30s"),
    ],
    ids=["no timeout of its own", "a shorter timeout of its own"],
)
def test_a_step_that_comes_back_too_late_is_cut_by_what_was_over_first(event, timeout, message):
    """Its operator is told to stop, as one that is cut while it runs."""
    step = Step(
        name="a",
        action="airflow/operator",
        params={"operator": f"{HERE}.Resume"},
        timeout=timeout,
    )
    workflow = Workflow(name="test", steps=(step,), timeout=timedelta(minutes=1))
    run = FakeRun(workflow, started_ago=timedelta(minutes=2))
    run.stored["a", "mantle_began_1"] = {"at": time.time() - 110, "version": "1"}
    task = run.enter("a")
    with pytest.raises(WorkflowError) as caught:
        task.resume_execution("go_on", {"event": event}, run.context)
    assert str(caught.value) == message
    assert task.is_stopped


def test_a_step_goes_on_with_the_event_it_waited_for():
    run = run_of("Resume")
    task = run.enter("a")
    assert task.resume_execution("go_on", {"event": 3}, run.context) == {"result": 3}


def test_steering_the_run_is_a_failure_of_the_step():
    run = run_of("Raise", params={"what": "DownstreamTasksSkipped"})
    with pytest.raises(Exception, match="steers the run by itself") as caught:
        run.run("a")
    assert not isinstance(caught.value, DownstreamTasksSkipped)
    assert run.record("a")["phase"] == "EXECUTION"


def test_airflows_own_fail_exception_is_recorded():
    run = run_of("Raise", params={"what": "AirflowFailException"})
    with pytest.raises(AirflowFailException):
        run.run("a")
    assert run.record("a")["type"] == "AirflowFailException"


def test_an_operator_is_told_to_stop_when_its_time_is_up():
    run = run_of("Sleep", timeout=timedelta(milliseconds=100))
    with pytest.raises(Exception, match="^step timed out after 100ms$"):
        run.run("a")
    assert run.states["stopped"] == "yes"


def test_what_a_step_says_when_airflow_ends_it_is_no_cause():
    """The command of a step that was marked failed exits with -15, which nobody wants to read."""
    run = run_of("EndedAtWork")
    with pytest.raises(RuntimeError):
        run.run("a")
    assert run.record("a") is None


def test_a_base_operator_stays_as_it_is():
    assert BaseOperator.template_ext == ()
    assert BashOperator.template_ext == (".sh", ".bash")
