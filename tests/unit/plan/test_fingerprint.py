from dataclasses import replace
from datetime import date, timedelta

import pytest

from mantle_provider.plan.planner import plan_workflow
from mantle_provider.workflow.model import (
    AirflowOptions,
    Artifact,
    CronTrigger,
    ErrorHandler,
    ErrorRule,
    Input,
    LifecycleHooks,
    Outputs,
    Retry,
    Step,
    StepAirflowOptions,
    Workflow,
)

STEP = Step("a", action="text/chunk", params={"text": "x", "size": 5})
OTHER = Step("b", action="text/chunk", depends_on=("a",))
WORKFLOW = Workflow(
    "flow",
    (STEP, OTHER),
    inputs=(Input("one", "string"), Input("two", "number", default=1)),
    airflow=AirflowOptions(tags=("t",)),
)


def version(workflow):
    return plan_workflow(workflow).version


def with_step(**more):
    return replace(WORKFLOW, steps=(replace(STEP, **more), OTHER))


def with_options(**more):
    return replace(WORKFLOW, airflow=replace(WORKFLOW.airflow, **more))


def test_a_version_is_twelve_hex_digits():
    assert len(version(WORKFLOW)) == 12
    assert int(version(WORKFLOW), 16) >= 0


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(replace(WORKFLOW, description="Moves data"), id="description"),
        pytest.param(with_options(doc="# Data"), id="doc"),
        pytest.param(with_options(tags=("other",)), id="tags"),
        pytest.param(with_options(owner="me"), id="owner"),
        pytest.param(with_step(params={"size": 5, "text": "x"}), id="order-of-params"),
        pytest.param(
            replace(WORKFLOW, inputs=tuple(reversed(WORKFLOW.inputs))), id="order-of-inputs"
        ),
        pytest.param(
            replace(
                WORKFLOW, inputs=(replace(WORKFLOW.inputs[0], description="x"), WORKFLOW.inputs[1])
            ),
            id="description-of-an-input",
        ),
        pytest.param(with_step(outputs=Outputs()), id="outputs-that-say-nothing"),
        pytest.param(with_step(on_dep_failure="fail_run"), id="policy-that-is-the-default"),
    ],
)
def test_what_people_read_changes_no_version(changed):
    assert version(changed) == version(WORKFLOW)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(replace(WORKFLOW, name="other"), id="name"),
        pytest.param(replace(WORKFLOW, order="listed"), id="order"),
        pytest.param(replace(WORKFLOW, steps=(STEP, replace(OTHER, depends_on=()))), id="edge"),
        pytest.param(replace(WORKFLOW, inputs=WORKFLOW.inputs[:1]), id="inputs"),
        pytest.param(replace(WORKFLOW, triggers=(CronTrigger("@daily"),)), id="schedule"),
        pytest.param(replace(WORKFLOW, triggers=(CronTrigger("@daily", "Asia/Tokyo"),)), id="zone"),
        pytest.param(replace(WORKFLOW, timeout=timedelta(seconds=1)), id="timeout"),
        pytest.param(
            replace(WORKFLOW, hooks=LifecycleHooks(timeout=timedelta(seconds=1))),
            id="hooks-timeout",
        ),
        pytest.param(replace(WORKFLOW, hooks=LifecycleHooks(on_finish=(STEP,))), id="hook"),
        pytest.param(replace(WORKFLOW, max_parallel_executions=1), id="max_parallel_executions"),
        pytest.param(replace(WORKFLOW, fail_fast=True), id="fail_fast"),
        pytest.param(replace(WORKFLOW, result="b"), id="result"),
        pytest.param(replace(WORKFLOW, before_start=(replace(STEP, name="c"),)), id="before_start"),
        pytest.param(replace(WORKFLOW, error_handler=ErrorHandler("a.Handler")), id="handler"),
        pytest.param(replace(WORKFLOW, on_finish_callback="a.tell"), id="callback"),
        pytest.param(replace(WORKFLOW, listeners=("a.Listener",)), id="listeners"),
        pytest.param(with_options(start_date=date(2025, 1, 1)), id="start_date"),
        pytest.param(with_options(catchup=True), id="catchup"),
        pytest.param(with_options(max_active_tasks=1), id="max_active_tasks"),
        pytest.param(with_options(pool="p"), id="pool"),
        pytest.param(with_step(action="bash/run"), id="action"),
        pytest.param(with_step(params={"text": "y", "size": 5}), id="params"),
        pytest.param(with_step(params={"text": "x", "size": "5"}), id="type-of-a-param"),
        pytest.param(with_step(condition="true"), id="if"),
        pytest.param(with_step(retry=Retry(2)), id="retry"),
        pytest.param(with_step(retry=Retry(1, "exponential")), id="backoff"),
        pytest.param(with_step(timeout=timedelta(seconds=1)), id="step-timeout"),
        pytest.param(with_step(credential="c"), id="credential"),
        pytest.param(with_step(continue_on_error=True), id="continue_on_error"),
        pytest.param(with_step(on_dep_failure="cancel_branch"), id="on_dep_failure"),
        pytest.param(with_step(on_error=(ErrorRule(fail=True),)), id="on_error"),
        pytest.param(with_step(outputs=Outputs(required=("chunks",))), id="required-outputs"),
        pytest.param(with_step(outputs=Outputs(map={"n": "output.n"})), id="mapped-outputs"),
        pytest.param(with_step(on_finish_callback="a.tell"), id="step-callback"),
        pytest.param(with_step(artifacts=(Artifact("x.csv", "x"),)), id="artifacts"),
        pytest.param(with_step(max_parallel=1), id="max_parallel"),
        pytest.param(with_step(airflow=StepAirflowOptions(queue="q")), id="queue"),
    ],
)
def test_what_changes_behaviour_changes_the_version(changed):
    assert version(changed) != version(WORKFLOW)
