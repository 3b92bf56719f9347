"""Which key answers a failed attempt: `on_error`, `retry`, the handler, and what none is asked."""

from __future__ import annotations

from datetime import timedelta

import pytest
from airflow.sdk.definitions.retry_policy import RetryDecision
from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowSensorTimeout,
    AirflowSkipException,
    AirflowTaskTimeout,
)

from mantle_provider import ActionError, ErrorResolution, WorkflowError
from mantle_provider.lifecycle import ERROR
from mantle_provider.operators.run_reader import FAILED_OUTPUT
from mantle_provider.workflow.model import (
    ErrorHandler,
    ErrorRule,
    Input,
    LifecycleHooks,
    Retry,
    Step,
    Workflow,
)
from support import functions, handlers
from support.runs import FakeRun, Killed
from support.steps import ending

FAIL, RETRY = ErrorResolution.fail(), ErrorResolution.retry()


@pytest.fixture(autouse=True)
def _no_memory():
    for kept in (handlers.ASKED, handlers.ANSWERS, functions.ENDS, functions.CALLS):
        kept.clear()


def run_of(*steps, handler=None, answers=(FAIL,), ends=(None,), **keys):
    handlers.ANSWERS[:] = answers
    functions.ENDS[:] = ends
    run_keys = {key: keys.pop(key) for key in ("conf", "started_ago") if key in keys}
    if handler is not None:
        keys["error_handler"] = ErrorHandler(f"support.handlers.{handler}")
    return FakeRun(Workflow(name="test", steps=steps, **keys), **run_keys)


def retries(count, delay=1, **keys):
    """Return what a rule's ``retries`` become in the model."""
    return Retry(count + 1, delay=timedelta(seconds=delay), **keys)


BOOM = ValueError("boom")
ON_BOOM = "error.message == 'boom'"


def test_the_first_rule_that_holds_answers():
    rules = (
        ErrorRule(when="error.type == 'KeyError'", retry=retries(2)),
        ErrorRule(when=ON_BOOM, transition_to="b"),
        ErrorRule(fail=True),
    )
    run = run_of(ending(on_error=rules), ending("b"), ends=[BOOM])
    assert run.run_to_end("a") == []
    assert (run.record("a")["resolution"], run.record("a")["target"]) == ("transition", "b")


class MuteError(Exception):
    def __str__(self):
        raise KeyError("code")


def test_an_exception_that_cannot_say_what_it_is_is_recorded_and_answered():
    answers = [RETRY, MuteError()]
    run = run_of(ending(), handler="Structured", answers=answers, ends=[MuteError()])
    assert run.run_to_end("a") == [1.0]
    record = run.record("a")
    assert (record["phase"], record["causes"][0]) == (
        "ERROR_HANDLER",
        {"type": "MuteError", "message": "no text can be had (KeyError)"},
    )


def test_a_rule_whose_retries_are_used_up_gives_way_to_the_next():
    rules = (ErrorRule(retry=retries(2, delay=5)), ErrorRule(transition_to="b"))
    run = run_of(ending(on_error=rules), ending("b"), ends=[BOOM])
    assert run.run_to_end("a") == [5.0, 5.0]
    assert run.record("a")["target"] == "b"


def test_rules_retry_and_handler_are_asked_in_this_order_each_with_its_own_count():
    rule = ErrorRule(retry=retries(2, delay=10, backoff="exponential"))
    step = ending(
        on_error=(rule,), retry=Retry(3, delay=timedelta(seconds=1), backoff="exponential")
    )
    answers = [ErrorResolution.retry(7), ErrorResolution.retry(timedelta(minutes=1)), FAIL]
    run = run_of(step, handler="Structured", answers=answers, ends=[BOOM])
    assert run.run_to_end("a") == [10.0, 20.0, 1.0, 2.0, 7.0, 60.0]
    assert len(handlers.ASKED) == 3


def test_a_handler_that_names_no_delay_gets_that_of_retry():
    step = ending(retry=Retry(1, delay=timedelta(seconds=4), backoff="exponential"))
    run = run_of(step, handler="Structured", answers=[RETRY, RETRY, FAIL], ends=[BOOM])
    assert run.run_to_end("a") == [4.0, 8.0]


def test_a_rule_that_fails_asks_neither_retry_nor_handler():
    step = ending(on_error=(ErrorRule(fail=True),), retry=Retry(3))
    run = run_of(step, handler="Structured", answers=[RETRY], ends=[BOOM])
    assert run.run_to_end("a") == []
    assert (len(functions.CALLS), handlers.ASKED) == (1, [])


def test_without_a_rule_that_holds_retry_answers():
    step = ending(on_error=(ErrorRule(when="false", fail=True),), retry=Retry(2))
    run = run_of(step, ends=[BOOM])
    assert run.run_to_end("a") == [1.0]


def test_rules_read_the_failure_beside_everything_else():
    view = (
        "{'phase': error.phase, 'step': error.step, 'edge': error.edge, 'field': error.field, "
        "'expression': error.expression, 'message': error.message, 'type': error.type, "
        "'causes': error.causes, 'try_number': error.try_number} == {'phase': 'EXECUTION', "
        "'step': 'a', 'edge': null, 'field': null, 'expression': null, 'message': 'outer', "
        "'type': 'ValueError', 'causes': [{'type': 'KeyError', 'message': \"'inner'\"}], "
        "'try_number': 1} && inputs.n == 2"
    )
    step = Step(
        name="a",
        action="python/call",
        params={"callable": "support.functions.fail_with_cause"},
        on_error=(ErrorRule(when=view, transition_to="b"),),
    )
    run = run_of(step, ending("b"), inputs=(Input("n", default=2),))
    run.run_to_end("a")
    assert run.record("a")["resolution"] == "transition"


def test_tries_count_anew_for_rules_once_the_step_was_cleared():
    rule = ErrorRule(when="error.try_number == 1", transition_to="b")
    run = run_of(ending(on_error=(rule,)), ending("b"), ends=[BOOM])
    with pytest.raises(ValueError, match="^boom$"):
        run.run("a", earlier_tries=4)
    assert (run.record("a")["resolution"], run.record("a")["try_number"]) == ("transition", 5)


@pytest.mark.parametrize(
    ("when", "kind", "problem"),
    [
        (
            "inputs.gone.x",
            "ExpressionError",
            'cannot evaluate `on_error[1].when` (inputs.gone.x): no such key: "gone"',
        ),
        (
            "error.causes",
            "WorkflowError",
            "`on_error[1].when` (error.causes) must yield true or false, but yields a list",
        ),
    ],
    ids=["error", "not-boolean"],
)
def test_a_rule_that_cannot_answer_fails_the_step_with_its_own_failure(when, kind, problem):
    """The failure stays what it was; that the rule is broken is added to its causes."""
    rules = (
        ErrorRule(when="false", fail=True),
        ErrorRule(when=when, retry=retries(3)),
        ErrorRule(transition_to="b"),
    )
    step = ending(on_error=rules, retry=Retry(3))
    run = run_of(step, ending("b"), handler="Structured", answers=[RETRY], ends=[BOOM])
    assert run.run_to_end("a") == []
    record = run.record("a")
    assert (record["phase"], record["type"], record["message"], record["resolution"]) == (
        "EXECUTION",
        "ValueError",
        "boom",
        "fail",
    )
    assert record["causes"] == [{"type": kind, "message": problem}]
    assert handlers.ASKED == []


@pytest.mark.parametrize(
    ("keys", "attempts"),
    [
        ({"retry": Retry(3)}, 1),
        ({"retry": Retry(3), "on_error": (ErrorRule(retry=retries(1)),)}, 2),
    ],
    ids=["retry", "rule"],
)
def test_what_cannot_succeed_is_repeated_only_where_a_rule_says_so(keys, attempts):
    run = run_of(ending(**keys), ends=[ActionError("no", retryable=False)])
    run.run_to_end("a")
    assert len(functions.CALLS) == attempts


@pytest.mark.parametrize("kind", [AirflowFailException, AirflowSensorTimeout])
def test_what_airflow_never_repeats_is_repeated_where_a_rule_says_so(kind):
    run = run_of(ending(retry=Retry(3)), ends=[kind("no")])
    run.run_to_end("a")
    assert (len(functions.CALLS), run.record("a")["resolution"]) == (1, "fail")
    functions.CALLS.clear()
    run = run_of(ending(on_error=(ErrorRule(retry=retries(1)),)), ends=[kind("no")])
    assert run.run_to_end("a") == [1.0]
    assert len(functions.CALLS) == 2


def test_what_cannot_succeed_is_repeated_when_the_handler_says_so():
    ends = [ActionError("no", retryable=False), {}]
    step = ending(retry=Retry(3))
    run = run_of(step, handler="Structured", answers=[RETRY], ends=ends)
    assert run.run_to_end("a") == [1.0]
    assert run.states["a"] == "success"


def test_a_retry_that_would_start_after_the_deadline_is_refused():
    step = ending(on_error=(ErrorRule(retry=retries(5, delay=60)), ErrorRule(transition_to="b")))
    run = run_of(step, ending("b"), ends=[BOOM], timeout=timedelta(seconds=30))
    assert run.run_to_end("a") == []
    assert run.record("a")["resolution"] == "fail"


def test_no_key_is_asked_once_the_deadline_is_over():
    step = ending(on_error=(ErrorRule(transition_to="b"),))
    run = run_of(
        step,
        ending("b"),
        handler="Structured",
        timeout=timedelta(seconds=1),
        started_ago=timedelta(seconds=2),
    )
    run.run_to_end("a")
    record = run.record("a")
    assert (record["type"], record["resolution"]) == ("WorkflowTimeout", "fail")
    assert handlers.ASKED == []


def test_no_key_is_asked_about_what_fail_fast_has_stopped():
    step = ending(on_error=(ErrorRule(transition_to="b"),))
    run = run_of(step, ending("b"), ending("c"), handler="Structured", fail_fast=True)
    run.states["c"] = "failed"
    run.run_to_end("a")
    record = run.record("a")
    assert (record["type"], record["resolution"]) == ("FailFast", "fail")
    assert handlers.ASKED == []


@pytest.mark.parametrize("base", [Exception, WorkflowError])
def test_an_exception_that_is_called_like_an_end_of_ours_is_answered_like_any_other(base):
    class FailFast(base):
        def __init__(self):
            super().__init__("mine", **({"phase": "EXECUTION"} if base is WorkflowError else {}))

    step = ending(on_error=(ErrorRule(transition_to="b"),))
    run = run_of(step, ending("b"), ends=[FailFast()])
    run.run_to_end("a")
    record = run.record("a")
    assert (record["type"], record["resolution"]) == (f"{__name__}.FailFast", "transition")


def test_the_time_of_a_step_is_a_failure_like_any_other():
    rule = ErrorRule(when="error.type == 'StepTimeout'", transition_to="b")
    step = Step(
        name="a",
        action="python/call",
        params={"callable": "support.functions.wait", "args": [30]},
        timeout=timedelta(seconds=0.05),
        on_error=(rule,),
    )
    run = run_of(step, ending("b"))
    run.run_to_end("a")
    assert run.record("a")["resolution"] == "transition"


def test_airflows_own_timeout_is_asked_about_although_it_is_no_exception():
    thrown = AirflowTaskTimeout("late")
    run = run_of(ending(), handler="Legacy", answers=[FAIL], ends=[thrown])
    run.run_to_end("a")
    [(_, result, exception)] = handlers.ASKED
    assert (result, exception is thrown) == (None, True)


@pytest.mark.parametrize(
    "end", [AirflowSkipException("no need"), KeyboardInterrupt(), SystemExit(1)], ids=repr
)
def test_what_is_no_failure_passes_unasked(end):
    run = run_of(ending(), handler="Structured", answers=[RETRY], ends=[end])
    with pytest.raises(type(end)):
        run.run("a")
    assert handlers.ASKED == []


def test_a_workflow_error_that_an_action_throws_is_its_exception_and_no_phase_of_ours():
    thrown = WorkflowError("mine", phase="EDGE_SELECTION", field="x")
    run = run_of(ending(), handler="Legacy", answers=[FAIL], ends=[thrown])
    run.run_to_end("a")
    [(which, _, exception)] = handlers.ASKED
    assert (which, exception is thrown) == ("node error", True)
    record = run.record("a")
    assert (record["phase"], record["field"], record["message"]) == ("EXECUTION", None, "mine")


def test_a_handler_cannot_change_the_run():
    run = run_of(
        ending(),
        handler="Meddling",
        ends=[ActionError("no", result={"status": 503})],
        inputs=(Input("items"),),
        conf={"items": ["one"]},
    )
    run.run_to_end("a")
    assert run.record("a")["phase"] == "EXECUTION"
    assert run.xcoms["a", FAILED_OUTPUT] == {"status": 503}
    assert run.conf == {"items": ["one"]}


def test_a_handler_is_asked_about_first_steps_and_hooks_too():
    run = run_of(
        ending(),
        handler="Structured",
        ends=[BOOM],
        before_start=(ending("first"),),
        hooks=LifecycleHooks(on_failure=(ending("tell"),)),
    )
    run.run_to_end("first")
    run.states["workflow_outcome"] = "failed"
    run.run_to_end("on_failure.tell")
    nodes = [question[1] for question in handlers.ASKED]
    assert [(node.id, node.block, node.attempt) for node in nodes] == [
        ("first", "steps", 1),
        ("tell", "on_failure", 1),
    ]


def test_rules_answer_for_hooks_as_well():
    hooks = LifecycleHooks(on_finish=(ending("tell", on_error=(ErrorRule(retry=retries(1)),)),))
    run = run_of(ending(), ends=[BOOM, {}], hooks=hooks)
    run.states["workflow_outcome"] = "success"
    assert run.run_to_end("on_finish.tell") == [1.0]
    assert run.states["on_finish.tell"] == "success"


def test_a_hook_has_no_way_to_another_step():
    answers = [ErrorResolution.transition_to("a")]
    hooks = LifecycleHooks(on_finish=(ending("tell"),))
    run = run_of(ending(), handler="Structured", answers=answers, ends=[BOOM], hooks=hooks)
    run.states["workflow_outcome"] = "success"
    run.run_to_end("on_finish.tell")
    message = run.record("on_finish.tell")["message"]
    assert message.startswith(
        'the error handler went to "a", but a hook cannot be recovered by another step;'
    )


@pytest.mark.parametrize(
    ("keys", "handler"),
    [({"on_error": (ErrorRule(retry=retries(5)),)}, None), ({}, "Structured")],
    ids=["rule", "handler"],
)
def test_a_killed_attempt_has_no_other_although_rules_or_a_handler_raise_the_tries(keys, handler):
    run = run_of(ending(**keys), handler=handler, answers=[RETRY], ends=[Killed()])
    assert run.run_to_end("a") == [None]
    assert len(functions.CALLS) == 1
    assert str(run.failure) == "attempt 1 was killed, and `retry` grants no other"
    assert (("a", ERROR) in run.xcoms, handlers.ASKED) == (False, [])


def test_kills_use_up_retry_and_nothing_else():
    step = ending(retry=Retry(3), on_error=(ErrorRule(when=ON_BOOM, retry=retries(2, delay=9)),))
    run = run_of(step, ends=[BOOM, Killed(), BOOM, Killed(), BOOM])
    assert run.run_to_end("a") == [9.0, None, 9.0, None]
    assert len(functions.CALLS) == 5


def test_tries_that_were_lost_before_they_began_use_up_retry_as_well():
    step = ending(retry=Retry(2), on_error=(ErrorRule(retry=retries(5)),))
    run = run_of(step, ends=[BOOM])
    with pytest.raises(AirflowFailException, match="^attempt 2 was killed"):
        run.run("a", try_number=3)


def test_counts_begin_anew_when_a_step_is_cleared():
    step = ending(on_error=(ErrorRule(retry=retries(1)),))
    run = run_of(step, ends=[BOOM])
    assert run.run_to_end("a") == [1.0]
    with pytest.raises(ValueError, match="^boom$"):
        run.run("a", try_number=1, earlier_tries=2)
    assert run.record("a")["resolution"] == "retry"


def test_airflow_is_told_nothing_about_an_attempt_that_nobody_answered_for():
    """As when Airflow ends a process from outside; the next attempt asks whether it may run."""
    run = run_of(ending(on_error=(ErrorRule(retry=retries(1)),)), ends=[{}])
    run.run("a")
    decision = run.context["task"].retry_policy.evaluate(BOOM, 1, 1, run.context)
    assert decision == RetryDecision.default()


def test_a_step_with_retry_alone_keeps_no_counts():
    run = run_of(ending(retry=Retry(3)), ends=[BOOM])
    assert run.run_to_end("a") == [1.0, 1.0]
    assert run.stored == {}
