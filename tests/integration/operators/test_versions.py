"""A run whose file changes while it runs: what the state and the log say, and who refuses it."""

from __future__ import annotations

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowRescheduleException, TaskDeferred

from mantle_provider.builder.build import build_dag
from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import ERROR, STATE
from mantle_provider.operators.run_reader import STARTED_AT
from mantle_provider.plan.planner import plan_workflow
from mantle_provider.workflow.model import LifecycleHooks, Step, Workflow
from support.runs import FakeRun
from support.steps import ECHO, call


def workflow_of(text, **keys):
    steps = (call("a"), call("b", ECHO, text, depends_on=("a",)))
    return Workflow(name="test", steps=steps, **{"result": "b", **keys})


def change(run, workflow):
    """Deploy another version of the file during the run."""
    plan = plan_workflow(workflow)
    run.dag = build_dag(plan)
    return plan.version


@pytest.fixture
def refusing(monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__ON_VERSION_CHANGE", "fail")


def start_and_change(**keys):
    run = FakeRun(workflow_of("old", **keys))
    old = plan_workflow(run.workflow).version
    run.run("a")
    return run, old, change(run, workflow_of("new", **keys))


def versions(run):
    state = run.xcoms["workflow_outcome", STATE]
    return state["status"], state["started_version"], state["version"]


def test_a_run_of_one_version_says_which(caplog):
    run = FakeRun(workflow_of("old"))
    for task_id in ("a", "b", "workflow_outcome"):
        run.run(task_id)
    version = plan_workflow(run.workflow).version
    assert versions(run) == ("completed", version, version)
    assert caplog.messages[-2:] == ["workflow completed", 'completed: "a", "b"']


def test_a_run_that_goes_on_under_another_version_says_so(caplog):
    run, old, new = start_and_change()
    run.run("b")
    run.run("workflow_outcome")
    assert versions(run) == ("completed", old, new)
    assert caplog.messages[-3] == (
        f'the run started under version "{old}" of the workflow, this is version "{new}"'
    )


def test_steps_ask_for_no_version_unless_it_is_refused():
    run, *_ = start_and_change()
    run.calls.clear()
    run.run("b")
    assert run.calls == []


def test_a_step_refuses_to_start_under_another_version(refusing):
    run, old, new = start_and_change(result="a")
    with pytest.raises(WorkflowError):
        run.run("b")
    record = run.xcoms["b", ERROR]
    assert (record["type"], record["phase"], record["message"]) == (
        "VersionChanged",
        "INPUT_RESOLUTION",
        f'the run started under version "{old}" of the workflow, this is version "{new}",'
        " which [mantle] on_version_change refuses; start a new run",
    )
    with pytest.raises(AirflowFailException):
        run.run("workflow_outcome")
    assert versions(run) == ("failed", old, new)


def test_an_outcome_refuses_what_has_completed_under_another_version(refusing):
    run = FakeRun(workflow_of("old"))
    old = plan_workflow(run.workflow).version
    run.run("a")
    run.run("b")
    new = change(run, workflow_of("new"))
    with pytest.raises(AirflowFailException):
        run.run("workflow_outcome")
    assert versions(run) == ("failed", old, new)
    assert run.xcoms["workflow_outcome", STATE]["error"] == (
        f'the run started under version "{old}" of the workflow, this is version "{new}"'
    )


def test_a_plain_workflow_notes_its_version_only_where_it_is_asked_for(monkeypatch):
    run = FakeRun(workflow_of("old", result=None))
    run.run("a")
    assert ("a", STARTED_AT) not in run.xcoms
    monkeypatch.setenv("AIRFLOW__MANTLE__ON_VERSION_CHANGE", "fail")
    run.run("a")
    change(run, workflow_of("new", result=None))
    with pytest.raises(WorkflowError):
        run.run("b")


def test_a_hook_runs_under_any_version(refusing):
    hooks = LifecycleHooks(on_failure=(call("tell"),))
    run, *_ = start_and_change(hooks=hooks)
    for task_id in ("b", "workflow_outcome"):
        with pytest.raises((WorkflowError, AirflowFailException)):
            run.run(task_id)
    run.run("on_failure.tell")
    assert run.states["on_failure.tell"] == "success"


@pytest.mark.parametrize("what", ["TaskDeferred", "AirflowRescheduleException"])
def test_a_step_that_waits_keeps_the_version_that_it_began_with(what):
    wait = Step(
        name="a",
        action="airflow/operator",
        params={"operator": "support.operators.Raise", "what": what},
    )
    run = FakeRun(Workflow(name="test", steps=(wait,), result="a"))
    old = plan_workflow(run.workflow).version
    task = run.enter("a")
    with pytest.raises((TaskDeferred, AirflowRescheduleException)):
        task.execute(run.context)
    if what == "AirflowRescheduleException":
        # Airflow clears what a task has pushed when it looks again.
        del run.xcoms["a", STARTED_AT]
    change(run, Workflow(name="test", steps=(wait, call("b")), result="a"))
    run.enter("a")
    assert run.xcoms["a", STARTED_AT]["version"] == old
