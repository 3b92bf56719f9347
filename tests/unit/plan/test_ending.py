"""The tasks around the steps: who is told of the start, and who is called at the end."""

from __future__ import annotations

import pytest

from mantle_provider.plan.ending import with_end
from mantle_provider.plan.planner import plan_workflow
from mantle_provider.workflow.model import AirflowOptions, LifecycleHooks, Step, Workflow


def make_step(name="a", **more):
    return Step(name=name, action="text/chunk", params={"text": "x"}, **more)


def make_plan(*steps, **more):
    return plan_workflow(Workflow(name="flow", steps=steps or (make_step(),), **more))


def upstream_of(plan):
    return {task.task_id: task.upstream for task in plan.tasks}


def test_a_step_with_a_callback_needs_an_outcome_that_calls_in_its_place():
    plan = make_plan(make_step(on_finish_callback="x.y"))
    assert list(upstream_of(plan)) == ["a", "workflow_outcome"]
    assert plan.tasks[0].step["on_finish"] == "x.y"


def test_a_callback_comes_after_the_outcome_and_before_the_end():
    assert upstream_of(make_plan(on_finish_callback="x.y")) == {
        "a": (),
        "workflow_outcome": ("a",),
        "callback_on_finish": ("workflow_outcome",),
        "hooks_done": ("callback_on_finish",),
        "workflow_status": ("workflow_outcome", "hooks_done"),
    }


def test_listeners_are_told_of_the_start_before_each_first_step():
    plan = make_plan(
        make_step("a"), make_step("b"), make_step("c", depends_on=("a",)), listeners=("x.Y",)
    )
    upstream = upstream_of(plan)
    assert {name: upstream[name] for name in ("workflow_started_done", "a", "b", "c")} == {
        "workflow_started_done": ("workflow_started",),
        "a": ("workflow_started_done",),
        "b": ("workflow_started_done",),
        "c": ("a",),
    }
    assert "callback_on_finish" in upstream


def test_a_refused_run_is_not_told_of():
    upstream = upstream_of(
        make_plan(listeners=("x.Y",), max_parallel_executions=1, on_limit="reject")
    )
    assert upstream["workflow_started"] == ("workflow_admission",)
    assert upstream["a"] == ("workflow_admission", "workflow_started_done")


@pytest.mark.parametrize("has_callback", [False, True], ids=["outcome", "callback"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"fail_fast": True},
        {"hooks": LifecycleHooks(on_failure=(make_step("h"),))},
    ],
    ids=["plain", "outcome", "hooks"],
)
def test_an_end_that_operators_ask_for_is_the_one_that_the_file_asks_for(more, has_callback):
    """Beside the version, which is the file's."""
    airflow = AirflowOptions(queue="slow")
    asked = with_end(make_plan(airflow=airflow, **more), has_callback=has_callback)
    key = {"on_finish_callback": "x.y"} if has_callback else {"fail_fast": True, **more}
    assert asked.tasks == make_plan(airflow=airflow, **{**more, **key}).tasks
    assert asked.version == make_plan(airflow=airflow, **more).version


def test_a_plan_that_has_the_end_already_stays_as_it_is():
    plan = make_plan(on_finish_callback="x.y")
    assert with_end(plan, has_callback=True) is plan
