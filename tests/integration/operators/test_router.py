"""A step that chooses which of several steps runs next."""

from __future__ import annotations

import pytest
from airflow.sdk.exceptions import AirflowSkipException

from mantle_provider.errors import WorkflowError
from mantle_provider.workflow.model import Input, Retry, Step, SwitchCase, Workflow
from support.runs import FakeRun
from support.steps import ECHO, call

CASES = (
    SwitchCase("small", "inputs.n < 10"),
    SwitchCase("large", "inputs.n < 100"),
    SwitchCase("huge"),
)


def run_of(*cases, n=1, targets=("small", "large", "huge"), **keys):
    steps = (
        Step(name="route", switch=cases, **keys),
        *(call(name, ECHO, name) for name in targets),
    )
    join = call("join", ECHO, "join", depends_on=targets)
    inputs = (Input("n", default=n),)
    return FakeRun(Workflow(name="test", steps=(*steps, join), inputs=inputs))


@pytest.mark.parametrize(
    ("n", "target"), [(1, "small"), (10, "large"), (100, "huge")], ids=["first", "next", "else"]
)
def test_the_first_case_that_holds_is_the_only_one_that_runs(n, target):
    run = run_of(*CASES, n=n)
    run.run("route")
    assert run.output("route") == {"to": target}
    for name in ("small", "large", "huge"):
        if name == target:
            run.run(name)
        else:
            with pytest.raises(AirflowSkipException, match="^no step went to this one$"):
                run.run(name)
    run.run("join")
    run.run("workflow_outcome")
    assert run.xcoms["workflow_outcome", "mantle_workflow_state"]["status"] == "completed"


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("inputs.n", 'the case for step "large" must yield true or false, but yields a number'),
        (
            "inputs.gone.x",
            'cannot evaluate the case for step "large": no such key: "gone"',
        ),
    ],
    ids=["not-boolean", "error"],
)
def test_a_case_that_cannot_answer_fails_the_router_and_ends_the_search(when, message):
    run = run_of(SwitchCase("small", "false"), SwitchCase("large", when), SwitchCase("huge"))
    with pytest.raises(WorkflowError) as caught:
        run.run("route")
    error, record = caught.value, run.record("route")
    assert (error.phase, error.edge_id, error.field, error.expression, str(error)) == (
        "EDGE_CONDITION",
        "large",
        "switch[1].when",
        when,
        message,
    )
    assert (record["edge"], record["message"]) == ("large", message)


def test_a_router_without_a_case_that_holds_fails():
    run = run_of(SwitchCase("small", "false"), SwitchCase("large", "false"))
    with pytest.raises(WorkflowError, match="^no case of `switch` holds"):
        run.run("route")
    assert run.record("route")["phase"] == "EDGE_SELECTION"


def test_a_further_attempt_asks_all_cases_anew(monkeypatch):
    """As when an environment variable was changed in between."""
    case = SwitchCase("small", "has(env.GATE) && env.GATE == 'open'")
    run = run_of(case, retry=Retry(2))
    with pytest.raises(WorkflowError):
        run.run("route")
    monkeypatch.setenv("MANTLE_ENV_GATE", "open")
    run.run("route", try_number=2)
    assert run.output("route") == {"to": "small"}


def test_a_router_is_no_action_that_a_platform_team_could_forbid(monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__ALLOWED_ACTIONS", "http/*")
    run = run_of(*CASES)
    run.run("route")
    assert run.output("route") == {"to": "small"}


def test_a_router_that_its_condition_skips_chooses_nothing():
    run = run_of(*CASES, condition="false")
    with pytest.raises(AirflowSkipException):
        run.run("route")
    with pytest.raises(AirflowSkipException, match="^no step went to this one$"):
        run.run("small")
