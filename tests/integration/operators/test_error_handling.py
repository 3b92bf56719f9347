"""Apitomy Flow's own tests of error handling, one for each row that is offered here.

Rows that are not, and why, stand in ``docs/reference/errors.md``.
"""

from __future__ import annotations

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from mantle_provider import ActionError, ErrorResolution, NodeResult
from mantle_provider.errors import ExpressionError
from mantle_provider.workflow.model import ErrorHandler, Outputs, Step, SwitchCase, Workflow
from support import functions, handlers
from support.runs import FakeRun
from support.steps import ending

FAIL, RETRY = ErrorResolution.fail(), ErrorResolution.retry()
REPAIR = ErrorResolution.transition_to("repair")


@pytest.fixture(autouse=True)
def _no_memory():
    for kept in (handlers.ASKED, handlers.ANSWERS, functions.ENDS, functions.CALLS):
        kept.clear()


def run_of(*steps, handler="Structured", answers=(FAIL,), ends=(None,), **keys):
    """Return a run whose handler may go to ``repair``, where there is such a step."""
    handlers.ANSWERS[:] = answers
    functions.ENDS[:] = ends
    targets = tuple(step.name for step in steps if step.name == "repair")
    if handler is not None:
        keys["error_handler"] = ErrorHandler(f"support.handlers.{handler}", targets)
    return FakeRun(Workflow(name="test", steps=steps, **keys))


def asked():
    """Return the result and the error of each question."""
    return [question[2:] for question in handlers.ASKED]


def brief(record):
    return {key: record[key] for key in ("phase", "message", "resolution", "target")}


FAILED = ActionError("no luck", result={"status": 503})
"""An action that says itself that it failed."""


@pytest.mark.parametrize("handler", [None, "Legacy"], ids=["none", "fails"])
def test_e1_an_explicit_failure_fails_the_step_by_default(handler):
    run = run_of(ending(), handler=handler, ends=[FAILED])
    assert run.run_to_end("a") == []
    assert brief(run.record("a")) == {
        "phase": "EXECUTION",
        "message": "no luck",
        "resolution": "fail",
        "target": None,
    }


def test_e2_an_exception_fails_the_step_by_default():
    run = run_of(ending(), handler=None, ends=[ValueError("boom")])
    assert run.run_to_end("a") == []
    assert run.record("a")["type"] == "ValueError"
    assert isinstance(run.failure, ValueError)


def test_e3_two_retries_of_the_handler_lead_to_success():
    run = run_of(ending(), answers=[RETRY], ends=[FAILED, FAILED, {"ok": True}])
    assert run.run_to_end("a") == [1.0, 1.0]
    assert len(functions.CALLS) == 3
    assert (run.states["a"], run.output("a")) == ("success", {"ok": True})


def test_e5_a_transition_to_a_step_that_does_not_exist_fails_and_says_so():
    answers = [ErrorResolution.transition_to("nowhere")]
    run = run_of(ending(), answers=answers, ends=[ValueError("boom")])
    run.run_to_end("a")
    assert brief(run.record("a")) == {
        "phase": "ERROR_HANDLER",
        "message": 'the error handler went to "nowhere", but no main step of this name was found; '
        "it was asked about: EXECUTION at step a: boom; caused by ValueError: boom",
        "resolution": "fail",
        "target": None,
    }


def test_e6_a_handler_that_throws_fails_the_step_and_says_so():
    run = run_of(ending(), answers=[RuntimeError("handler broke")], ends=[ValueError("boom")])
    run.run_to_end("a")
    assert brief(run.record("a")) == {
        "phase": "ERROR_HANDLER",
        "message": "the error handler failed: RuntimeError: handler broke; it was asked about: "
        "EXECUTION at step a: boom; caused by ValueError: boom",
        "resolution": "fail",
        "target": None,
    }


def test_e7_an_explicit_failure_gives_its_result_and_no_exception():
    run = run_of(ending(), handler="Legacy", ends=[FAILED])
    run.run_to_end("a")
    assert [("node error", NodeResult({"status": 503}), None)] == handlers.ASKED


def test_e8_an_exception_is_given_as_the_very_object():
    thrown = ValueError("boom")
    run = run_of(ending(), handler="Legacy", ends=[thrown])
    run.run_to_end("a")
    [(which, result, exception)] = handlers.ASKED
    assert (which, result) == ("node error", None)
    assert exception is thrown


def test_e9_a_recovery_step_runs_exactly_once():
    steps = [ending(value="a"), ending("repair", "repair"), ending("other", "other")]
    run = run_of(*steps, answers=[REPAIR], ends=[ValueError("boom"), {}])
    assert run.run_to_end("a") == []
    assert (run.record("a")["resolution"], run.record("a")["target"]) == ("transition", "repair")
    run.run_to_end("repair")
    assert functions.CALLS == ["a", "repair"]
    assert run.states["repair"] == "success"


def test_e9_a_recovery_step_that_nobody_went_to_is_skipped():
    run = run_of(ending(), ending("repair"))
    run.run_to_end("a")
    with pytest.raises(AirflowSkipException, match="^no step went to this one$"):
        run.run("repair")
    assert functions.CALLS == [None]


def test_e10_what_stands_behind_the_recovery_step_runs_in_its_order():
    steps = [
        ending(value="a"),
        ending("repair", "repair"),
        ending("cleanup", "cleanup", depends_on=("repair",)),
        ending("end", "end", depends_on=("cleanup",)),
    ]
    run = run_of(*steps, answers=[REPAIR], ends=[ValueError("boom"), {}])
    for task_id in ("a", "repair", "cleanup", "end", "workflow_outcome"):
        run.run_to_end(task_id)
    assert functions.CALLS == ["a", "repair", "cleanup", "end"]
    state = run.xcoms["workflow_outcome", "mantle_workflow_state"]
    assert (state["status"], state["nodes"]["a"]["effect"]) == ("completed", "recovered")


def test_e12_a_condition_that_cannot_be_evaluated_gives_its_exception():
    route = Step(name="route", switch=(SwitchCase("a", "steps.b.output.gone"),))
    run = run_of(ending("b"), route, ending("a"), handler="Legacy", ends=[{}])
    run.run_to_end("b")
    run.run_to_end("route")
    [(which, result, exception)] = handlers.ASKED
    assert (which, result) == ("node error", None)
    assert isinstance(exception, ExpressionError)
    assert exception.expression == "steps.b.output.gone"


def test_e13_a_handler_that_always_retries_has_eleven_attempts():
    run = run_of(ending(), answers=[RETRY], ends=[ValueError("boom")])
    assert run.run_to_end("a") == [1.0] * 10
    assert len(functions.CALLS) == len(handlers.ASKED) == 11
    assert brief(run.record("a")) == {
        "phase": "EXECUTION",
        "message": "the error handler asked for another attempt, but the limit of 10 is reached; "
        "the last failure: EXECUTION at step a: boom; caused by ValueError: boom",
        "resolution": "fail",
        "target": None,
    }


def router(when):
    return Step(name="a", switch=(SwitchCase("repair", when),))


S1_PATHS = {
    "bad-input": (
        ending(value="{{ inputs.gone.x }}"),
        None,
        ("INPUT_RESOLUTION", None, "args[0]", "inputs.gone.x", "ExpressionError"),
    ),
    "missing-output": (
        ending(outputs=Outputs(required=("rows",))),
        {"rows": None},
        ("OUTPUT_VALIDATION", None, "rows", None, None),
    ),
    "bad-mapping": (
        ending(outputs=Outputs(map={"n": "output.gone.x"})),
        {},
        ("OUTPUT_MAPPING", None, "outputs.map.n", "output.gone.x", "ExpressionError"),
    ),
    "thrown": (ending(), ValueError("boom"), ("EXECUTION", None, None, None, "ValueError")),
    "missing-action": (
        Step(name="a", action="python/call", params={"callable": "support.functions.gone"}),
        None,
        ("EXECUTOR_LOOKUP", None, None, None, "ConfigurationError"),
    ),
    "bad-edge": (
        router("inputs.gone.x"),
        None,
        ("EDGE_CONDITION", "repair", "switch[0].when", "inputs.gone.x", "ExpressionError"),
    ),
    "no-edge": (router("1 > 2"), None, ("EDGE_SELECTION", None, None, None, None)),
}


@pytest.mark.parametrize(("step", "end", "expected"), S1_PATHS.values(), ids=S1_PATHS)
def test_s1_every_failure_has_its_phase_place_and_cause(step, end, expected):
    run = run_of(step, ending("repair"), ends=[end])
    run.run_to_end("a")
    [(_, error)] = asked()
    cause = error.__cause__
    assert error.node_id == "a"
    assert (
        error.phase,
        error.edge_id,
        error.field,
        error.expression,
        cause and type(cause).__name__,
    ) == expected
    record = run.record("a")
    assert (record["phase"], record["edge"], record["field"], record["expression"]) == expected[:4]


@pytest.mark.parametrize(
    ("answer", "resolution", "attempts"),
    [(FAIL, "fail", 1), (RETRY, "fail", 11), (REPAIR, "transition", 1)],
    ids=["fail", "retry", "transition"],
)
def test_s3_an_input_error_may_fail_be_retried_or_recovered(answer, resolution, attempts):
    sibling = ending("sibling", "sibling")
    run = run_of(ending(value="{{ inputs.gone.x }}"), sibling, ending("repair"), answers=[answer])
    run.run_to_end("a")
    assert (run.record("a")["resolution"], len(handlers.ASKED)) == (resolution, attempts)
    assert "sibling" not in run.states


def test_s8_a_handler_that_fails_keeps_the_causes_of_both_failures():
    handler_failure = RuntimeError("handler broke")
    handler_failure.__cause__ = KeyError("setting")
    thrown = ValueError("boom")
    thrown.__cause__ = OSError("disk")
    run = run_of(ending(), answers=[handler_failure], ends=[thrown])
    run.run_to_end("a")
    assert [(cause["type"], cause["message"]) for cause in run.record("a")["causes"]] == [
        ("RuntimeError", "handler broke"),
        ("KeyError", "'setting'"),
        ("WorkflowError", "boom"),
        ("ValueError", "boom"),
        ("OSError", "disk"),
    ]


def test_s9_a_null_parameter_is_legal():
    run = run_of(ending(value="{{ null }}"), ends=[{}])
    run.run_to_end("a")
    assert (functions.CALLS, run.states["a"]) == ([None], "success")


def test_s10_an_input_error_that_is_always_retried_never_reaches_the_action():
    run = run_of(ending(value="{{ inputs.gone.x }}"), answers=[RETRY])
    run.run_to_end("a")
    assert (len(functions.CALLS), len(handlers.ASKED)) == (0, 11)


def test_s11_an_output_with_keys_that_are_no_strings_is_refused():
    run = run_of(ending(), ends=[{1: "one"}])
    run.run_to_end("a")
    [(_, error)] = asked()
    assert (error.phase, error.message) == (
        "RESULT_VALIDATION",
        "output has a key of type int; keys must be strings",
    )
    assert run.output("a") is None


def test_s14_a_missing_required_output_fails_with_its_name():
    run = run_of(ending(outputs=Outputs(required=("rows", "sum"))), ends=[{"sum": 0}])
    run.run_to_end("a")
    [(_, error)] = asked()
    assert (error.phase, error.field, error.message) == (
        "OUTPUT_VALIDATION",
        "rows",
        'the output lacks "rows", which `outputs.required` asks for',
    )
    assert run.output("a") is None


def test_s14_a_missing_required_output_fails_after_a_wait_too():
    step = Step(
        name="a",
        action="airflow/operator",
        params={"operator": "support.operators.Resume"},
        outputs=Outputs(required=("rows",)),
    )
    run = run_of(step)
    task = run.enter("a")
    with pytest.raises(AirflowFailException, match='^the output lacks "rows"'):
        task.resume_execution("go_on", {"event": {"sum": 0}}, run.context)
    [(_, error)] = asked()
    assert (error.phase, error.field) == ("OUTPUT_VALIDATION", "rows")


S15_ANSWERS = {
    "null": (None, "answered with a NoneType, not with an ErrorResolution"),
    "word": ("retry", "answered with a str, not with an ErrorResolution"),
    "null-action": (ErrorResolution(None), "answered with the unknown action None"),
    "unknown-action": (ErrorResolution("ignore"), "answered with the unknown action 'ignore'"),
    "null-target": (
        ErrorResolution("transition"),
        "answered with a transition to None, which names no step",
    ),
    "blank-target": (
        ErrorResolution.transition_to(" "),
        "answered with a transition to ' ', which names no step",
    ),
    "unknown-target": (
        ErrorResolution.transition_to("nowhere"),
        'went to "nowhere", but no main step of this name was found',
    ),
    "undeclared-target": (
        ErrorResolution.transition_to("other"),
        'went to "other", which is not one of its "targets"',
    ),
    "backward-target": (
        ErrorResolution.transition_to("repair"),
        'went to "repair", but step "a" has no way there: "repair" is it or runs before it, '
        "or the step is one of `before_start`",
    ),
    "target-of-fail": (
        ErrorResolution("fail", "other"),
        "answered fail with a target, which only a transition has",
    ),
    "target-of-retry": (
        ErrorResolution("retry", "other"),
        "answered retry with a target, which only a transition has",
    ),
    "negative-delay": (
        ErrorResolution.retry(-1),
        "answered with the delay datetime.timedelta(days=-1, seconds=86399)",
    ),
    "delay-of-another-type": (
        ErrorResolution("retry", delay="1s"),
        "answered with the delay '1s'",
    ),
}


@pytest.mark.parametrize(("answer", "problem"), S15_ANSWERS.values(), ids=S15_ANSWERS)
def test_s15_a_malformed_answer_fails_the_step_and_the_handler_is_asked_once(answer, problem):
    steps = [ending("repair"), ending(depends_on=("repair",)), ending("other")]
    run = run_of(*steps, answers=[answer], ends=[ValueError("boom")])
    run.states["repair"] = "success"
    assert run.run_to_end("a") == []
    assert brief(run.record("a")) == {
        "phase": "ERROR_HANDLER",
        "message": f"the error handler {problem}; "
        "it was asked about: EXECUTION at step a: boom; caused by ValueError: boom",
        "resolution": "fail",
        "target": None,
    }
    assert len(handlers.ASKED) == 1


@pytest.mark.parametrize(
    ("handler", "problem"),
    [
        (
            "Gone",
            'ConfigurationError: cannot import "support.handlers.Gone": module "support.handlers" '
            'has no "Gone"',
        ),
        ("Unmakeable", "RuntimeError: no database"),
        ("Bare", 'TypeError: "support.handlers.Bare" is no subclass of WorkflowErrorHandler'),
        (
            "next_answer",
            'TypeError: "support.handlers.next_answer" is no subclass of WorkflowErrorHandler',
        ),
    ],
    ids=["missing", "unmakeable", "without-base", "function"],
)
def test_s15_a_handler_that_cannot_be_made_fails_the_step(handler, problem):
    run = run_of(ending(), handler=handler, ends=[ValueError("boom")])
    assert run.run_to_end("a") == []
    assert brief(run.record("a")) == {
        "phase": "ERROR_HANDLER",
        "message": f"the error handler failed: {problem}; "
        "it was asked about: EXECUTION at step a: boom; caused by ValueError: boom",
        "resolution": "fail",
        "target": None,
    }
