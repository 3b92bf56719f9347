"""What the user's code gets to know of its run, and the notes it leaves there."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

import mantle_provider
from mantle_provider import NodeStatus, WorkflowContext, WorkflowState, current_state
from mantle_provider.errors import ConfigurationError, WorkflowError
from mantle_provider.lifecycle import CALLBACK, OUTCOME, STATE
from mantle_provider.operators.notes import MAX_NOTES_BYTES, NOTES
from mantle_provider.operators.run_reader import CHILD_RUN
from mantle_provider.workflow.model import Input, LifecycleHooks, Step, Workflow
from support.runs import FakeRun
from support.steps import call


def run_of(*steps, **keys):
    return FakeRun(Workflow(name="test", steps=steps, **keys), conf=keys.pop("conf", None))


def test_a_function_with_a_parameter_context_gets_one():
    run = run_of(call("a", "support.observers.about"), inputs=(Input("n", default=2),))
    task = run.run("a")
    version = task.mantle_workflow["version"]
    inputs = {"n": 2, "trigger": {}}
    assert run.output("a") == {"result": ["manual__1", "test", version, "a", inputs]}


@pytest.mark.parametrize(
    ("function", "params", "result"),
    [
        ("with_default", {}, {"result": "WorkflowContext"}),
        ("with_default", {"args": ["given"]}, {"result": "str"}),
        ("with_default", {"kwargs": {"context": "given"}}, {"result": "str"}),
        ("anything", {"kwargs": {"a": 1}}, {"result": ["a"]}),
    ],
)
def test_a_context_that_the_file_gives_is_kept(function, params, result):
    step = Step("a", "python/call", {"callable": f"support.observers.{function}", **params})
    run = run_of(step)
    run.run("a")
    assert run.output("a") == result


def test_raising_before_the_start_fails_the_run():
    run = run_of(call("b"), before_start=(call("a", "support.observers.refuse"),))
    with pytest.raises(RuntimeError, match="^not today: a of test$"):
        run.run("a")
    run.states["b"] = "upstream_failed"
    with pytest.raises(AirflowFailException):
        run.run(OUTCOME)
    state = WorkflowState.from_data(run.xcoms[OUTCOME, STATE])
    assert (state.status, state.failed_step) == ("failed", "a")
    assert state.nodes["b"].status is NodeStatus.CANCELLED


def test_outputs_follow_the_rules_of_expressions_and_load_when_read():
    run = run_of(
        call("a", "support.functions.echo", {"n": 3}),
        call("b", "support.observers.read_outputs", depends_on=("a",)),
        call("c"),
    )
    run.run("a")
    run.run("b")
    assert run.output("b") == {"n": 3, "names": ["a", "b", "c"]}
    assert "pull c return_value" not in run.calls


def context_of(run, task_id):
    run.enter(task_id)
    return WorkflowContext(run.context)


def test_notes_are_seen_by_others_once_their_task_has_ended():
    run = run_of(call("a"), call("b"))
    first = context_of(run, "a")
    first.properties["x"] = 1
    assert dict(context_of(run, "b").properties) == {}
    run.states["a"] = "success"
    assert dict(context_of(run, "b").properties) == {"x": 1}


def test_of_two_notes_of_one_name_the_later_counts():
    run = run_of(call("a"), call("b"), call("c"))
    context_of(run, "b").properties["x"] = "earlier"
    context_of(run, "a").properties["x"] = "later"
    run.states |= {"a": "success", "b": "failed"}
    assert dict(context_of(run, "c").properties) == {"x": "later"}


def test_the_later_note_counts_for_a_task_that_comes_back_from_a_wait_too():
    run = run_of(call("a"), call("b"))
    context_of(run, "a").properties["x"] = "earlier"
    context_of(run, "b").properties["x"] = "later"
    run.states["b"] = "success"
    assert dict(context_of(run, "a").properties) == {"x": "later"}


def test_a_note_can_be_taken_away():
    run = run_of(call("a"), call("b"), call("c"))
    context_of(run, "a").properties["x"] = 1
    run.states["a"] = "success"
    del context_of(run, "b").properties["x"]
    run.states["b"] = "success"
    properties = context_of(run, "c").properties
    assert (dict(properties), len(properties)) == ({}, 0)
    with pytest.raises(KeyError):
        del properties["x"]


def test_a_task_adds_to_its_own_notes():
    run = run_of(call("a"))
    context_of(run, "a").properties["x"] = 1
    again = WorkflowContext(run.context).properties
    again["y"] = 2
    assert dict(again) == {"x": 1, "y": 2}
    assert set(run.xcoms["a", NOTES]) == {"x", "y"}


def test_a_note_that_json_does_not_have_is_refused_where_it_is_written():
    run = run_of(call("a"))
    with pytest.raises(WorkflowError, match="^properties.x is of type set, which JSON does not"):
        context_of(run, "a").properties["x"] = {1}
    assert ("a", NOTES) not in run.xcoms


def test_notes_have_a_limit_over_all_steps():
    run = run_of(call("a"), call("b"))
    context_of(run, "a").properties["x"] = "x" * (MAX_NOTES_BYTES - 100)
    run.states["a"] = "success"
    properties = context_of(run, "b").properties
    with pytest.raises(WorkflowError, match="^properties are 262159 bytes"):
        properties["y"] = "y" * 100
    assert list(properties) == ["x"]


def test_notes_reach_the_stored_state_where_somebody_is_called():
    note = "support.observers."
    run = run_of(
        call(
            "a",
            "support.observers.noting",
            on_finish_callback="support.observers.step_finished_with_a_note",
        ),
        on_finish_callback=f"{note}workflow_finished_with_a_note",
    )
    run.run("a")
    run.run(OUTCOME)
    properties = {"lock": {"name": "orders"}, "finished": "a"}
    assert run.xcoms[OUTCOME, STATE]["properties"] == properties
    run.run(CALLBACK)
    assert run.xcoms[CALLBACK, NOTES]["told"]["value"] is True


def test_without_a_callback_the_outcome_asks_no_step_for_notes():
    run = run_of(call("a"), hooks=LifecycleHooks(on_finish=(call("h"),)))
    run.run("a")
    run.calls.clear()
    run.run(OUTCOME)
    assert [asked for asked in run.calls if NOTES in asked] == []


def test_a_state_asks_for_notes_only_when_they_are_looked_at():
    run = run_of(call("a"), call("b"))
    run.run("a")
    run.enter("b")
    run.calls.clear()
    state = current_state(run.context)
    assert [asked for asked in run.calls if NOTES in asked] == []
    assert (dict(state.properties), len(state.properties)) == ({}, 0)
    assert [asked for asked in run.calls if NOTES in asked] == [f"pull a {NOTES}"]


def test_the_state_before_the_end_is_running_and_tells_what_has_not_ended():
    run = run_of(call("a"), call("b"), call("c", condition="false"))
    run.run("a")
    with suppress(Exception):
        run.run("c")
    run.states["d"] = "queued"
    run.enter("b")
    state = current_state(run.context)
    assert (state.status, state.is_succeeded, state.error) == ("running", False, None)
    assert {name: (node.status, node.reason) for name, node in state.nodes.items()} == {
        "a": (NodeStatus.COMPLETED, None),
        "b": (NodeStatus.NOT_RUN, "not ended: running"),
        "c": (NodeStatus.SKIPPED, "condition"),
    }


def test_a_fatal_failure_decides_before_the_end():
    run = run_of(call("a", "support.functions.fail_with", "x"), call("b"), call("c"))
    with suppress(RuntimeError):
        run.run("a")
    run.enter("b")
    state = current_state(WorkflowContext(run.context))
    assert (state.status, state.failed_step, state.error) == ("failed", "a", "told: x")
    assert state.nodes["c"].reason == "not ended: not scheduled"


def test_after_the_verdict_the_state_is_the_verdict():
    hooks = LifecycleHooks(on_finish=(call("h"),))
    run = run_of(call("a", "support.functions.echo", 7), hooks=hooks, result="a")
    run.run("a")
    run.run(OUTCOME)
    run.enter("on_finish.h")
    state = current_state(run.context)
    assert (state.status, state.result) == ("completed", {"result": 7})


def test_a_task_that_is_not_ours_has_no_state():
    with pytest.raises(ConfigurationError, match='^task "x" is no task of a Mantle workflow$'):
        current_state({"task": BaseOperator(task_id="x")})


def test_the_run_of_a_child_stands_in_the_state_of_its_step():
    step = Step("a", "workflow/run", {"workflow": "child"}, continue_on_error=True)
    run = run_of(step, call("b"))
    run.states |= {"a": "failed", "b": "success"}
    run.xcoms["a", CHILD_RUN] = "child__1"
    run.run(OUTCOME)
    nodes = WorkflowState.from_data(json.loads(json.dumps(run.xcoms[OUTCOME, STATE]))).nodes
    assert (nodes["a"].run_id, nodes["b"].run_id) == ("child__1", None)


def test_a_file_can_be_kept_from_code(tmp_path, monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__ARTIFACTS_PATH", f"file://{tmp_path}/store")
    (tmp_path / "out.txt").write_text("hello")
    run = run_of(call("a"), on_finish_callback="support.functions.echo")
    kept = context_of(run, "a").keep(tmp_path / "out.txt", "greeting", keep="on_failure")
    assert (kept["name"], kept["size"]) == ("greeting", 5)
    assert (tmp_path / "store/test/manual__1/a/greeting").read_text() == "hello"


def test_a_connection_is_airflow_s(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_ORDERS", "http://host.example:81")
    connection = context_of(run_of(call("a")), "a").connection("orders")
    assert (connection.host, connection.port) == ("host.example", 81)


def test_lines_of_the_logger_are_named_after_the_workflow():
    assert context_of(run_of(call("a")), "a").logger.name == "mantle.test"


def test_the_failure_cause_has_a_public_name():
    from mantle_provider.lifecycle import ErrorRecord

    assert mantle_provider.FailureCause is ErrorRecord
