"""The phases of an attempt, from the gate to the checked output."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from mantle_provider.errors import ActionError, ConfigurationError, WorkflowError
from mantle_provider.workflow.model import Input, Retry, Step, Workflow
from support.runs import FakeRun
from support.steps import call


def run_of(*steps, **keys):
    run_keys = {key: keys.pop(key) for key in ("conf", "started_ago") if key in keys}
    return FakeRun(Workflow(name="test", steps=steps, **keys), **run_keys)


def test_expressions_in_parameters_keep_their_types():
    run = run_of(
        call("a", "support.functions.echo", {"n": 3}),
        call("b", "support.functions.echo", "{{ steps.a.output.n }}"),
    )
    run.run("a")
    run.run("b")
    assert run.output("b") == {"result": 3}


def test_resolved_parameters_stand_in_the_template_field():
    run = run_of(call("a", "support.functions.echo", "n={{ 1 + 1 }}"))
    assert run.run("a").parameters == {"callable": "support.functions.echo", "args": ["n=2"]}


def test_text_that_an_expression_yields_is_not_evaluated():
    run = run_of(
        call("a", "support.functions.echo", {"text": "{{ '{{' }} env.SECRET }}"}),
        call("b", "support.functions.echo", "{{ steps.a.output.text }}!"),
    )
    run.run("a")
    run.run("b")
    assert run.output("b") == {"result": "{{ env.SECRET }}!"}


def test_a_false_condition_skips_before_anything_else_is_evaluated():
    run = run_of(call("a", "no.such.module.name", "{{ inputs.missing.field }}", condition="false"))
    with pytest.raises(AirflowSkipException, match="^`if` is false: false$"):
        run.run("a")
    assert (run.record("a")["type"], run.record("a")["phase"]) == ("condition", "EDGE_CONDITION")


def test_a_skipped_step_has_an_empty_output_and_no_error():
    run = run_of(
        call("a", condition="false"),
        call(
            "b", "support.functions.echo", "{{ [steps.a.output, steps.a.error, steps.a.status] }}"
        ),
    )
    with pytest.raises(AirflowSkipException):
        run.run("a")
    run.run("b")
    assert run.output("b") == {"result": [{}, None, "SKIPPED"]}


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("inputs.n", "`if` must yield true or false, but yields a number"),
        ("inputs.s == 'a' && inputs.missing", 'cannot evaluate `if`: there is no key "missing"'),
    ],
    ids=["not-boolean", "error"],
)
def test_a_condition_that_cannot_decide_fails_the_step(condition, message):
    inputs = (Input("n", default=1), Input("s", default="a"))
    run = run_of(call("a", condition=condition), inputs=inputs)
    with pytest.raises(WorkflowError) as caught:
        run.run("a")
    record = run.record("a")
    assert (record["phase"], record["field"], record["expression"]) == (
        "EDGE_CONDITION",
        "if",
        condition,
    )
    assert str(caught.value) == record["message"]


def test_a_parameter_that_cannot_be_resolved_names_its_field_and_expression():
    run = run_of(
        Step(
            name="a",
            action="python/call",
            params={"callable": "x.y", "kwargs": {"deep": ["ok", "{{ inputs.gone.x }}"]}},
        )
    )
    with pytest.raises(WorkflowError):
        run.run("a")
    record = run.record("a")
    assert (record["phase"], record["field"], record["expression"]) == (
        "INPUT_RESOLUTION",
        "kwargs.deep[1]",
        "inputs.gone.x",
    )


def test_resolved_parameters_are_checked_against_the_action():
    run = run_of(
        Step(
            name="a",
            action="python/call",
            params={"callable": "json.dumps", "args": "{{ 'no list' }}", "kwargs": "{{ 3 }}"},
        )
    )
    with pytest.raises(WorkflowError) as caught:
        run.run("a")
    assert str(caught.value) == (
        "python/call: args must be a list, but is a string; "
        "python/call: kwargs must be a map, but is a number"
    )


def test_a_missing_function_fails_in_the_lookup_phase():
    run = run_of(call("a", "support.functions.nothing"))
    with pytest.raises(ConfigurationError):
        run.run("a")
    record = run.record("a")
    assert (record["phase"], record["message"]) == (
        "EXECUTOR_LOOKUP",
        'cannot import "support.functions.nothing": module "support.functions" has no "nothing"',
    )


def test_an_exception_is_recorded_with_its_causes():
    run = run_of(call("a", "support.functions.fail_with_cause"))
    with pytest.raises(ValueError, match="^outer$"):
        run.run("a")
    record = run.record("a")
    assert (record["phase"], record["type"], record["message"], record["try_number"]) == (
        "EXECUTION",
        "ValueError",
        "outer",
        1,
    )
    assert record["causes"] == [{"type": "KeyError", "message": "'inner'"}]
    assert record["resolution"] == "fail"


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (None, {}),
        (3, {"result": 3}),
        ([1, (2,)], {"result": [1, [2]]}),
        ({"a": None}, {"a": None}),
        ("", {"result": ""}),
    ],
    ids=repr,
)
def test_results_become_json_objects(result, output):
    run = run_of(call("a", "support.functions.give"))
    with_result(result)
    run.run("a")
    assert run.output("a") == output


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (object(), "output.result is of type object, which JSON does not have"),
        ({"a": [float("nan")]}, "output.a[0] is nan, which JSON does not have"),
        ({"a": 2**70}, "output.a is a whole number beyond 64 bits; give it out as a string"),
        ({1: 2}, "output has a key of type int; keys must be strings"),
        ({"a": "\0"}, "output.a holds a NUL character, which Airflow cannot store"),
        ({"a": "\ud800"}, "output.a holds a lone surrogate, which is no valid text"),
        ({"__var": 1}, 'output has the key "__var", which Airflow keeps for itself'),
        ({"a": {1, 2}}, "output.a is of type set, which JSON does not have"),
    ],
    ids=["object", "nan", "integer", "key", "nul", "surrogate", "reserved", "set"],
)
def test_what_is_no_json_is_refused_and_not_pushed(result, message):
    run = run_of(call("a", "support.functions.give"))
    with_result(result)
    with pytest.raises(WorkflowError) as caught:
        run.run("a")
    assert str(caught.value) == message
    assert run.record("a")["phase"] == "RESULT_VALIDATION"
    assert run.output("a") is None


def test_output_of_exactly_the_limit_passes_and_one_byte_more_fails(monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__MAX_OUTPUT_BYTES", "100")
    run = run_of(call("a", "support.functions.give"))
    overhead = len('{"text":"é"}'.encode())
    with_result({"text": "é" + "x" * (100 - overhead)})
    run.run("a")
    with_result({"text": "é" + "x" * (101 - overhead)})
    with pytest.raises(WorkflowError) as caught:
        run.run("a")
    assert str(caught.value).startswith("output is 101 bytes of JSON; at most 100 are allowed")


def test_an_action_that_is_not_allowed_does_not_run(monkeypatch):
    run = run_of(call("a", retry=Retry(3)))
    monkeypatch.setenv("AIRFLOW__MANTLE__ALLOWED_ACTIONS", "http/*, text/chunk")
    with pytest.raises(AirflowFailException) as caught:
        run.run("a")
    message = (
        'action "python/call" is not allowed here; [mantle] allowed_actions: http/*, text/chunk'
    )
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ({"count": "3"}, 'input "count" must be a number, but is a string'),
        ({"count": True}, 'input "count" must be a number, but is a boolean'),
        ({}, 'input "count" is required, but missing'),
        ({"count": 1, "mode": "slow"}, 'input "mode" must be one of fast, safe'),
        ({"count": 1, "cuont": 2}, 'unknown input "cuont"; declared inputs: "count", "mode"'),
    ],
    ids=["type", "boolean", "missing", "enum", "unknown"],
)
def test_wrong_inputs_fail_main_steps(conf, message):
    inputs = (
        Input("count", "number", required=True),
        Input("mode", "string", enum=("fast", "safe")),
    )
    run = run_of(call("a"), inputs=inputs, conf=conf)
    with pytest.raises(WorkflowError) as caught:
        run.run("a")
    assert str(caught.value) == message


@pytest.mark.timeout(20)
def test_a_step_is_cut_when_its_timeout_is_over():
    run = run_of(call("a", "support.functions.wait", 30, timeout=timedelta(milliseconds=100)))
    with pytest.raises(WorkflowError) as caught:
        run.run("a")
    assert str(caught.value) == "step timed out after 100ms"
    assert run.record("a")["type"] == "StepTimeout"


def test_an_action_cannot_swallow_its_timeout():
    run = run_of(
        call(
            "a",
            "support.functions.wait_in_spite_of_exceptions",
            timeout=timedelta(milliseconds=100),
        )
    )
    with pytest.raises(WorkflowError, match="^step timed out after 100ms$"):
        run.run("a")


def test_a_step_does_not_start_after_the_workflow_deadline():
    run = run_of(
        call("a", retry=Retry(2)), timeout=timedelta(minutes=5), started_ago=timedelta(minutes=6)
    )
    with pytest.raises(AirflowFailException) as caught:
        run.run("a")
    assert str(caught.value) == "workflow timed out after 5m before this step could start"
    assert run.record("a")["type"] == "WorkflowTimeout"


def test_a_running_step_is_cut_by_the_workflow_deadline():
    run = run_of(
        call("a", "support.functions.wait", 30, timeout=timedelta(minutes=1)),
        timeout=timedelta(seconds=1),
        started_ago=timedelta(milliseconds=800),
    )
    with pytest.raises(WorkflowError, match="^workflow timed out after 1s while this step ran$"):
        run.run("a")
    assert run.record("a")["type"] == "WorkflowTimeout"


def test_a_retry_that_would_start_after_the_deadline_is_refused():
    run = run_of(
        call("a", "support.functions.fail_with_cause", retry=Retry(3, delay=timedelta(hours=1))),
        timeout=timedelta(minutes=5),
    )
    with pytest.raises(AirflowFailException, match="^outer$"):
        run.run("a")
    assert run.record("a")["resolution"] == "fail"


def test_a_failure_with_attempts_left_is_retried():
    run = run_of(call("a", "support.functions.fail_with_cause", retry=Retry(2)))
    with pytest.raises(ValueError, match="^outer$"):
        run.run("a", try_number=1)
    assert run.record("a")["resolution"] == "retry"
    with pytest.raises(ValueError, match="^outer$"):
        run.run("a", try_number=2)
    assert run.record("a")["resolution"] == "fail"


def test_a_condition_is_evaluated_once_per_run_of_the_step(monkeypatch):
    monkeypatch.setenv("MANTLE_ENV_GO", "yes")
    step = call(
        "a",
        "support.functions.fail_with_cause",
        condition="env.GO == 'yes'",
        retry=Retry(2),
    )
    run = run_of(step)
    with pytest.raises(ValueError, match="^outer$"):
        run.run("a", try_number=1)
    monkeypatch.setenv("MANTLE_ENV_GO", "no")
    with pytest.raises(ValueError, match="^outer$"):
        run.run("a", try_number=2)


def test_a_killed_attempt_is_followed_only_by_what_retry_grants():
    """A cluster policy that raises `retries` must not repeat a step that says nothing of it."""
    run = run_of(call("a", "support.functions.echo", 1))
    run.dag.get_task("a").retries = 3
    with pytest.raises(AirflowFailException) as caught:
        run.run("a", try_number=2)
    assert str(caught.value) == "attempt 1 was killed, and `retry` grants no other"
    assert run.record("a") is None


def test_raised_retries_do_not_repeat_a_failure():
    run = run_of(call("a", "support.functions.fail_with_cause"))
    run.dag.get_task("a").retries = 3
    with pytest.raises(AirflowFailException, match="^outer$"):
        run.run("a", try_number=1)


def test_a_killed_attempt_is_followed_by_those_that_retry_grants():
    run = run_of(call("a", "support.functions.echo", 1, retry=Retry(2)))
    run.run("a", try_number=2)
    assert run.output("a") == {"result": 1}


def test_under_fail_fast_a_step_does_not_start_after_a_fatal_failure():
    run = run_of(call("a"), call("b"), fail_fast=True)
    run.states["a"] = "failed"
    with pytest.raises(WorkflowError) as caught:
        run.run("b")
    assert str(caught.value) == 'not started by fail_fast: step "a" failed'
    assert (run.record("b")["type"], run.record("b")["phase"]) == ("FailFast", "EDGE_CONDITION")


def test_under_fail_fast_a_tolerated_failure_stops_nothing():
    run = run_of(call("a", continue_on_error=True), call("b"), fail_fast=True)
    run.states["a"] = "failed"
    run.run("b")
    assert run.states["b"] == "success"


@pytest.mark.timeout(20)
def test_under_fail_fast_a_running_step_is_stopped(monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__FAIL_FAST_INTERVAL", "0.1")
    run = run_of(call("a"), call("b", "support.functions.wait", 60, retry=Retry(3)), fail_fast=True)
    threading.Timer(0.3, run.states.__setitem__, ["a", "failed"]).start()
    with pytest.raises(AirflowFailException) as caught:
        run.run("b")
    assert str(caught.value) == 'stopped by fail_fast: step "a" failed'
    assert (run.record("b")["type"], run.record("b")["phase"]) == ("FailFast", "EXECUTION")


def test_without_fail_fast_nobody_watches():
    run = run_of(call("a"), call("b"), timeout=timedelta(minutes=1))
    run.run("b")
    assert run.calls == []


def test_a_gated_step_is_cancelled_behind_a_blocked_dependency():
    run = run_of(
        call("a", continue_on_error=True),
        call("b"),
        call("c", depends_on=("a", "b")),
    )
    run.states |= {"a": "failed", "b": "failed"}
    with pytest.raises(AirflowSkipException) as caught:
        run.run("c")
    assert str(caught.value) == 'step "b", which comes before this one, did not end well'
    assert run.record("c")["type"] == "dependency"


def test_a_tolerated_failure_is_readable_behind_it():
    run = run_of(
        call("a", "support.functions.fail_with_output", continue_on_error=True),
        call(
            "b",
            "support.functions.echo",
            "{{ [steps.a.error, steps.a.output, steps.a.failure.effect, steps.a.status] }}",
        ),
    )
    with pytest.raises(ActionError):
        run.run("a")
    run.run("b")
    assert run.output("b") == {"result": ["no luck", {"status": 503}, "tolerated", "FAILED"]}


def test_an_output_is_read_only_while_its_step_is_successful():
    run = run_of(
        call("a", "support.functions.echo", 1, continue_on_error=True),
        call("b", "support.functions.echo", "{{ [steps.a.output, steps.a.error] }}"),
    )
    run.run("a")
    run.states["a"] = "failed"  # marked by a user, long after its output was stored
    run.run("b")
    assert run.output("b") == {"result": [None, "killed, lost or marked failed"]}


def test_environment_values_are_masked_in_records(monkeypatch):
    monkeypatch.setenv("MANTLE_ENV_TOKEN", "s3cr3t-value-42")
    run = run_of(call("a", "support.functions.fail_with", "{{ env.TOKEN }}"))
    with pytest.raises(RuntimeError):
        run.run("a")
    assert run.record("a")["message"] == "told: ***"


def test_a_step_without_expressions_asks_for_no_states():
    run = run_of(call("a", "support.functions.echo", 1))
    run.run("a")
    assert run.calls == []


def with_result(value):
    from support import functions

    functions.RESULT = value


def child_conf(**trigger):
    return {"trigger": {"type": "workflow", **trigger}}


def test_a_run_for_another_version_of_the_workflow_fails_before_anything_runs():
    run = run_of(call("a"), conf=child_conf(version="other") | {"unknown": 1})
    version = run.dag.get_task("a").mantle_workflow["version"]
    with pytest.raises(WorkflowError) as caught:
        run.run("a")
    assert str(caught.value) == (
        f'the run was started for version "other" of this workflow, but its version is "{version}"'
    )
    assert (run.record("a")["phase"], run.record("a")["type"]) == (
        "INPUT_RESOLUTION",
        "InvalidInput",
    )


@pytest.mark.parametrize(
    "conf",
    [child_conf(), {"trigger": {"type": "webhook", "version": "2"}}, {"trigger": "by hand"}],
    ids=["child", "webhook", "text"],
)
def test_a_run_for_no_version_takes_any(conf):
    run = run_of(call("a"), conf=conf)
    run.run("a")
    assert run.states["a"] == "success"


def test_a_run_for_the_version_that_there_is_runs():
    version = run_of(call("a")).dag.get_task("a").mantle_workflow["version"]
    run = run_of(call("a"), conf=child_conf(version=version))
    run.run("a")
    assert run.states["a"] == "success"
