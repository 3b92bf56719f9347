"""`workflow/run`: what the child is started with, and what becomes of how it ended."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException, TaskDeferred

from mantle_provider import workflow_result
from mantle_provider.errors import ActionError, ResultNotCompletedError, WorkflowError
from mantle_provider.operators import result as result_module
from mantle_provider.operators.run_reader import FAILED_OUTPUT
from mantle_provider.triggers.step import STOPPED_BY, TIME_IS_UP
from mantle_provider.workflow.model import LifecycleHooks, Retry, Step, Workflow
from support.children import SUPERVISOR, FakeSupervisor, ParentRun, api_error
from support.runs import FakeRun
from support.steps import call

RUN_ID = "parent.a__00000000-0000-0000-0000-000000000001"


@pytest.fixture
def supervisor(monkeypatch):
    supervisor = FakeSupervisor(paused={"child": False})
    monkeypatch.setattr(SUPERVISOR, supervisor, raising=False)
    return supervisor


def parent_of(supervisor, *, conf=None, step=None, **params):
    params = {"workflow": "child", **params}
    steps = (Step(name="a", action="workflow/run", params=params, **(step or {})),)
    return ParentRun(Workflow(name="parent", steps=steps), conf=conf, supervisor=supervisor)


def run_child(*steps, hooks=None, result=None, **keys):
    """Run a child's tasks in the order of its steps, then the outcome where there is one."""
    hooks = hooks or LifecycleHooks()
    child = FakeRun(Workflow(name="child", steps=steps, hooks=hooks, result=result), **keys)
    outcome = ["workflow_outcome"] if child.dag.has_task("workflow_outcome") else []
    for task_id in [*[step.name for step in steps], *outcome]:
        with suppress(Exception):
            child.run(task_id)
    return child


def take_result(supervisor, child, *, run_state):
    """Resume the step as Airflow does when the child's run has ended."""
    supervisor.child = child
    run = parent_of(supervisor)
    task = run.enter("a")
    event = {"dag_id": "child", "run_id": RUN_ID, "state": run_state}
    try:
        return task.resume_execution("take_result", {"event": event}, run.context)
    except ActionError as error:
        return str(error), run.xcoms.get(("a", FAILED_OUTPUT))


def test_a_child_is_started_with_its_inputs_and_with_who_starts_it(supervisor):
    run = parent_of(supervisor, inputs={"n": 3, "note": None}, wait=False, version="4f0c")
    run.run("a")
    assert run.output("a") == {"run_id": RUN_ID, "status": "started"}
    started = supervisor.started[RUN_ID]
    assert started.dag_id == "child"
    assert started.conf == {
        "n": 3,
        "note": None,
        "trigger": {
            "type": "workflow",
            "workflow": "parent",
            "run_id": "manual__1",
            "step": "a",
            "depth": 1,
            "version": "4f0c",
        },
    }
    assert started.note == "Started by step a in run manual__1 of workflow parent."


@pytest.mark.parametrize("params", [{}, {"wait": True}, {"wait": None}], ids=str)
def test_the_step_gives_its_worker_back_while_the_child_runs(supervisor, params):
    with pytest.raises(TaskDeferred) as caught:
        parent_of(supervisor, **params).run("a")
    assert caught.value.method_name == "take_result"
    assert caught.value.trigger.classpath == "mantle_provider.triggers.child_run.ChildRunTrigger"
    assert caught.value.trigger.kwargs == {
        "dag_id": "child",
        "run_id": RUN_ID,
        "poll_seconds": 5.0,
    }


def test_the_wait_ends_with_the_steps_time(supervisor):
    run = parent_of(supervisor, step={"timeout": timedelta(seconds=30)})
    with pytest.raises(TaskDeferred) as caught:
        run.run("a")
    assert caught.value.trigger.end is not None
    task = run.enter("a")
    with pytest.raises(WorkflowError, match="^step timed out after 30s$"):
        task.resume_execution("take_result", {"event": {STOPPED_BY: TIME_IS_UP}}, run.context)


def test_a_try_that_asks_twice_starts_one_run(supervisor):
    run = parent_of(supervisor, wait=False)
    run.run("a")
    run.run("a")
    assert run.output("a")["run_id"] == RUN_ID
    assert list(supervisor.started) == [RUN_ID]


def test_another_try_starts_another_run(supervisor):
    run = parent_of(supervisor, wait=False, step={"retry": Retry(max_attempts=2)})
    run.run("a", try_number=1)
    run.run("a", try_number=2)
    assert len(supervisor.started) == 2


def test_long_names_make_an_id_that_airflow_can_store(supervisor):
    step = Step(name="s" * 250, action="workflow/run", params={"workflow": "child", "wait": False})
    ParentRun(Workflow(name="w" * 250, steps=(step,)), supervisor=supervisor).run("s" * 250)
    (run_id,) = supervisor.started
    assert len(run_id) == 250
    assert run_id.endswith("__00000000-0000-0000-0000-000000000001")


@pytest.mark.parametrize(
    ("trigger", "depth"),
    [({"type": "workflow", "depth": 9}, 10), ({"type": "webhook"}, 1), ("by hand", 1)],
    ids=["child", "webhook", "text"],
)
def test_each_child_is_one_deeper(supervisor, trigger, depth):
    parent_of(supervisor, conf={"trigger": trigger}, wait=False).run("a")
    assert supervisor.started[RUN_ID].conf["trigger"]["depth"] == depth


def test_the_eleventh_child_is_refused_for_good(supervisor):
    run = parent_of(
        supervisor, conf={"trigger": {"depth": 10}}, step={"retry": Retry(max_attempts=3)}
    )
    message = "workflow/run: max workflow depth 10 exceeded (current depth: 11)"
    with pytest.raises(AirflowFailException) as caught:
        run.run("a")
    assert str(caught.value) == message
    assert (run.record("a")["message"], run.record("a")["type"]) == (message, "ActionError")
    assert supervisor.started == {}


@pytest.mark.parametrize(
    ("paused", "message"),
    [
        ({}, 'workflow "child" not found'),
        (
            {"child": True},
            'workflow "child" is paused, so that its run would wait for ever; '
            "unpause it in the Airflow UI",
        ),
    ],
    ids=["unknown", "paused"],
)
@pytest.mark.parametrize("wait", [True, False])
def test_a_dag_that_cannot_run_is_refused_before_the_start(supervisor, paused, message, wait):
    supervisor.paused = paused
    with pytest.raises(ActionError) as caught:
        parent_of(supervisor, wait=wait).run("a")
    assert str(caught.value) == f"workflow/run: {message}"
    assert supervisor.started == {}


@pytest.mark.parametrize(
    ("refusal", "message"),
    [
        (
            api_error(
                400,
                "value_error",
                "Invalid input for param n: 'hunter2' is not of type 'number'\n\nFailed ...",
            ),
            'its input "n" is missing, of another type, or none of its choices',
        ),
        (
            api_error(400, "import_errors", "Dag with dag_id 'child' has import errors"),
            "Dag with dag_id 'child' has import errors",
        ),
        (
            api_error(503),
            "API_SERVER_ERROR: {'status_code': 503, 'message': 'Server returned error', "
            "'detail': {'detail': {'reason': None, 'message': 'no'}}}",
        ),
    ],
    ids=["input", "import-errors", "server"],
)
def test_airflows_refusal_is_told_without_values(supervisor, refusal, message):
    supervisor.refusal = refusal
    run = parent_of(supervisor)
    with pytest.raises(ActionError) as caught:
        run.run("a")
    assert str(caught.value) == f'workflow/run: workflow "child" cannot be run: {message}'
    assert run.record("a")["causes"] == []


def test_a_dag_that_went_between_the_check_and_the_start_is_not_found(supervisor):
    supervisor.refusal = api_error(404, "not_found")
    with pytest.raises(ActionError, match='^workflow/run: workflow "child" not found$'):
        parent_of(supervisor).run("a")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"trigger": {}}, 'inputs must not hold the reserved name "trigger"'),
        (
            {"at": "{{ parseTimestamp('2026-01-01T00:00:00Z') }}"},
            'input "at" holds a value that JSON does not have',
        ),
    ],
    ids=["reserved", "no-json"],
)
def test_inputs_that_no_run_can_have_are_refused(supervisor, inputs, message):
    with pytest.raises(ActionError) as caught:
        parent_of(supervisor, inputs=inputs).run("a")
    assert str(caught.value) == f"workflow/run: {message}"


def test_a_completed_child_gives_its_outputs_by_step(supervisor):
    child = run_child(
        call("one", "support.functions.echo", {"n": 1}), call("two", condition="false")
    )
    assert take_result(supervisor, child, run_state="success") == {
        "run_id": RUN_ID,
        "status": "completed",
        "steps": {"one": {"output": {"n": 1}}, "two": {"output": {}}},
    }


def test_hooks_and_our_own_tasks_are_no_steps(supervisor):
    child = run_child(call("one"), hooks=LifecycleHooks(on_finish=(call("clean-up"),)))
    child.run("on_finish.clean-up")
    result = take_result(supervisor, child, run_state="success")
    assert list(result["steps"]) == ["one"]


def test_a_failed_child_fails_the_step_with_the_cause_and_keeps_its_outputs(supervisor):
    child = run_child(
        call("good", "support.functions.echo", {"n": 1}),
        call("bad", "support.functions.fail_with", "no luck"),
        hooks=LifecycleHooks(on_finish=(call("clean-up"),)),
    )
    message, output = take_result(supervisor, child, run_state="failed")
    assert message == 'workflow/run: child workflow "child" failed: told: no luck'
    assert output == {
        "run_id": RUN_ID,
        "status": "failed",
        "steps": {"bad": {"output": None, "error": "told: no luck"}, "good": {"output": {"n": 1}}},
    }


def test_without_an_outcome_the_cause_is_the_first_record(supervisor):
    child = run_child(
        call("z-first", "support.functions.fail_with", "first"),
        call("a-second", "support.functions.fail_with", "second"),
    )
    message, output = take_result(supervisor, child, run_state="failed")
    assert message == 'workflow/run: child workflow "child" failed: told: first'
    assert output["status"] == "failed"


def test_a_child_that_timed_out_fails_the_step_and_says_so(supervisor):
    child = FakeRun(
        Workflow(name="child", steps=(call("late"),), timeout=timedelta(seconds=5)),
        started_ago=timedelta(seconds=10),
    )
    for task_id in ("late", "workflow_outcome"):
        with suppress(Exception):
            child.run(task_id)
    message, output = take_result(supervisor, child, run_state="failed")
    assert message == (
        'workflow/run: child workflow "child" timed out: workflow timed out after 5s'
    )
    assert output["status"] == "timed_out"


NO_CAUSE = "no step says why: its run was marked failed, or its outcome was lost"
NO_RECORD = "failed without saying why: killed, lost, marked failed, or no step of a workflow"


def test_a_child_that_a_user_cancelled_counts_as_failed(supervisor):
    child = run_child(call("one"), hooks=LifecycleHooks(on_finish=(call("clean-up"),)))
    child.states = {"one": "failed", "workflow_outcome": "skipped"}
    message, output = take_result(supervisor, child, run_state="failed")
    assert message == f'workflow/run: child workflow "child" failed: "one" {NO_RECORD}'
    assert output["steps"] == {"one": {"output": None, "error": NO_RECORD}}


def test_a_child_that_a_user_cancelled_in_its_hooks_counts_as_failed(supervisor):
    child = run_child(call("one"), hooks=LifecycleHooks(on_finish=(call("clean-up"),)))
    message, output = take_result(supervisor, child, run_state="failed")
    assert message == f'workflow/run: child workflow "child" failed: {NO_CAUSE}'
    assert output["status"] == "failed"


def test_a_child_whose_run_was_deleted_fails_the_step(supervisor):
    message, output = take_result(supervisor, None, run_state=None)
    assert message == f'workflow/run: run "{RUN_ID}" of workflow "child" was deleted'
    assert output is None


def test_another_dag_gives_the_return_values_of_its_tasks(supervisor):
    child = run_child(call("x"))
    child.states = {"load_all": "success", "group.check": "failed", "later": "upstream_failed"}
    child.xcoms = {("load_all", "return_value"): [1, 2], ("group.check", "return_value"): 3}
    message, output = take_result(supervisor, child, run_state="failed")
    assert message == f'workflow/run: child workflow "child" failed: "group.check" {NO_RECORD}'
    assert output["steps"] == {
        "group.check": {"output": None, "error": NO_RECORD},
        "later": {"output": None},
        "load_all": {"output": [1, 2]},
    }


def test_a_false_condition_starts_nothing(supervisor):
    with pytest.raises(AirflowSkipException):
        parent_of(supervisor, step={"condition": "false"}).run("a")
    assert supervisor.started == {}


def test_a_childs_result_is_in_the_output(supervisor):
    child = run_child(call("a"), call("b", "support.functions.echo", 3), result="b")
    output = take_result(supervisor, child, run_state="success")
    assert output["result"] == {"result": 3}


@pytest.mark.parametrize("step", [call("b", condition="false"), call("b", "support.functions.no")])
def test_a_child_whose_result_did_not_complete_has_none_in_the_output(supervisor, step):
    child = run_child(call("a"), step, result="b")
    if child.states["b"] == "failed":
        _, output = take_result(supervisor, child, run_state="failed")
    else:
        output = take_result(supervisor, child, run_state="success")
    assert "result" not in output


def test_the_result_of_a_run_is_read_by_any_task(supervisor, monkeypatch):
    supervisor.child = run_child(call("a", "support.functions.echo", 3), result="a")
    run = parent_of(supervisor)
    run.enter("a")
    monkeypatch.setattr(result_module, "get_current_context", lambda: run.context)
    assert workflow_result("child", RUN_ID) == {"result": 3}


def test_a_run_without_a_result_raises_and_says_why(supervisor, monkeypatch):
    run = parent_of(supervisor)
    run.enter("a")
    monkeypatch.setattr(result_module, "get_current_context", lambda: run.context)
    reasons = []
    for child in (
        run_child(call("a", condition="false"), result="a"),
        run_child(call("a")),
        run_child(call("a"), hooks=LifecycleHooks(on_finish=(call("h"),))),
    ):
        supervisor.child = child
        with pytest.raises(ResultNotCompletedError) as caught:
            workflow_result("child", RUN_ID)
        reasons.append(str(caught.value))
    assert reasons == [
        'the workflow has no result: step "a" is SKIPPED',
        "the workflow has no result: there is no verdict on the run",
        'the workflow has no result: it has no key "result"',
    ]
