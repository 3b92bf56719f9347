"""From a plan to a Dag: what Airflow is told explicitly, names that could collide, schedules."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from airflow.sdk.definitions.context import _AIRFLOW_PARSING_CONTEXT_DAG_ID
from airflow.sdk.definitions.timetables.trigger import (
    CronTriggerTimetable,
    MultipleCronTriggerTimetable,
)
from airflow.serialization.serialized_objects import DagSerialization

from mantle_provider.builder.build import build_dag
from mantle_provider.operators.retry import StepRetryPolicy
from mantle_provider.plan.planner import plan_workflow
from mantle_provider.workflow.model import (
    AirflowOptions,
    CronTrigger,
    Input,
    LifecycleHooks,
    Retry,
    Step,
    StepAirflowOptions,
    Workflow,
)


def step(name="a", **keys):
    return Step(name=name, action="bash/run", params={"command": "true"}, **keys)


def build(*steps, **keys):
    return build_dag(plan_workflow(Workflow(name="test", steps=steps or (step(),), **keys)))


def test_cluster_defaults_do_not_leak_into_tasks():
    """`default_task_retries` and the like would change what a workflow does (DESIGN 2)."""
    hooks = LifecycleHooks(on_success=(step("x", continue_on_error=True), step("y")))
    dag = build(step(), step("b", retry=Retry(3), timeout=timedelta(seconds=5)), hooks=hooks)
    told = {
        task.task_id: (task.retries, task.retry_delay, task.execution_timeout) for task in dag.tasks
    }
    second = timedelta(seconds=1)
    assert told == {
        "a": (0, second, None),
        "b": (2, second, timedelta(seconds=65)),
        "workflow_outcome": (3, timedelta(seconds=5), None),
        "on_success.block_begin": (0, second, None),
        "on_success.x": (0, second, None),
        "on_success.x_done": (0, second, None),
        "on_success.y": (0, second, None),
        "hooks_done": (0, second, None),
        "workflow_status": (0, second, None),
    }


@pytest.mark.parametrize("name", ["steps", "on-success", "begin", "done", "workflow-outcome"])
def test_no_step_name_collides_with_ours(name):
    hooks = LifecycleHooks(on_success=(step(name), step("b")), on_finish=(step(name),))
    dag = build(step(name), hooks=hooks)
    dag.validate()
    assert {name, f"on_success.{name}", f"on_finish.{name}"} <= set(dag.task_ids)


def test_main_steps_are_one_group():
    dag = build(step(), step("b"))
    (group,) = dag.task_group.children.values()
    assert (group.group_id, group.group_display_name) == ("main_steps", "steps")


def test_a_dag_serialises_and_comes_back():
    dag = build(step(), step("b", retry=Retry(2, "exponential"), depends_on=("a",)))
    data = DagSerialization.to_dict(dag)
    again = DagSerialization.from_dict(data)
    assert again.get_task("b").upstream_task_ids == {"a"}


def test_the_version_stands_in_the_serialised_dag():
    data = DagSerialization.to_dict(build(step(condition="true")))
    other = DagSerialization.to_dict(build(step(condition="false")))
    assert data["dag"]["doc_md"] != other["dag"]["doc_md"]


def test_steps_use_airflows_retries_with_mantles_delays():
    task = build(step(retry=Retry(3, "exponential"))).get_task("a")
    assert isinstance(task.retry_policy, StepRetryPolicy)
    delays = [
        task.retry_policy.evaluate(ValueError(), try_number, 2).retry_delay for try_number in (1, 2)
    ]
    assert delays == [timedelta(seconds=1), timedelta(seconds=2)]


def test_attempts_count_anew_after_a_clear():
    """Airflow keeps counting tries and raises `max_tries` when a task is cleared (AIRFLOW 22l)."""
    policy = StepRetryPolicy(
        {
            "max_attempts": 3,
            "backoff": "exponential",
            "delay_seconds": 1.0,
            "max_delay_seconds": None,
        }
    )
    assert policy.evaluate(ValueError(), 4, 5).retry_delay == timedelta(seconds=1)


def test_retries_that_a_cluster_has_raised_change_no_delay():
    task = build(step(retry=Retry(3, "exponential"))).get_task("a")
    task.retries = 5
    policy = task.retry_policy
    delays = [
        policy.evaluate(ValueError(), try_number, 5, {"task": task}).retry_delay
        for try_number in (1, 2)
    ]
    assert delays == [timedelta(seconds=1), timedelta(seconds=2)]


def test_a_delay_never_exceeds_its_bound():
    policy = StepRetryPolicy(
        {
            "max_attempts": 9,
            "backoff": "exponential",
            "delay_seconds": 1.0,
            "max_delay_seconds": 5.0,
        }
    )
    assert policy.evaluate(ValueError(), 8, 8).retry_delay == timedelta(seconds=5)


def test_airflow_options_reach_the_task():
    options = StepAirflowOptions("pool", "queue", 7, executor_config={"a": 1})
    task = build(step(airflow=options, max_parallel=2)).get_task("a")
    assert (
        task.pool,
        task.queue,
        task.priority_weight,
        task.executor_config,
        task.max_active_tis_per_dag,
    ) == ("pool", "queue", 7, {"a": 1}, 2)


def test_workflow_options_reach_the_dag():
    dag = build(
        airflow=AirflowOptions(
            tags=("x", "y"),
            owner="team",
            start_date=datetime(2026, 3, 29, 1, 30),  # noqa: DTZ001  # naive on purpose
            timezone="Europe/Berlin",
            catchup=True,
            max_active_tasks=3,
            doc="# Doc",
        ),
        description="what it is for",
        max_parallel_executions=2,
    )
    assert dag.start_date == datetime(2026, 3, 29, 1, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert (dag.tags, dag.owner, dag.catchup) == ({"x", "y"}, "team", True)
    assert (dag.max_active_runs, dag.max_active_tasks) == (2, 3)
    assert (dag.description, dag.doc_md.split("\n")[0]) == ("what it is for", "# Doc")
    assert (dag.dagrun_timeout, dag.fail_fast) == (None, False)


def test_an_offset_of_the_start_date_is_kept():
    """dag-factory threw it away (user-reports J1)."""
    start = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=8)))
    dag = build(airflow=AirflowOptions(start_date=start))
    assert dag.start_date == start


def test_schedules():
    assert build().schedule is None
    one = build(triggers=(CronTrigger("0 6 * * *", "Europe/Berlin"),)).schedule
    assert isinstance(one, CronTriggerTimetable)
    two = build(triggers=(CronTrigger("0 6 * * *"), CronTrigger("0 18 * * *"))).schedule
    assert isinstance(two, MultipleCronTriggerTimetable)


def test_inputs_are_typed_params_of_the_trigger_form():
    inputs = (
        Input("day", "string", "which day", required=True),
        Input("count", "number", default=3),
        Input("mode", "string", default="fast", required=True, enum=("fast", "safe")),
        Input("anything"),
    )
    params = build(inputs=inputs).params
    schemas = {name: params.get_param(name).schema for name in params}
    assert schemas == {
        "day": {"type": "string"},
        "count": {"type": ["number", "null"]},
        "mode": {"type": "string", "enum": ["fast", "safe"]},
        "anything": {},
    }
    assert params.get_param("day").has_value is False
    assert params.get_param("count").value == 3


def test_a_task_process_builds_untyped_params(monkeypatch):
    """An edited type would otherwise fail every hook of a cleared run before it starts."""
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "test")
    params = build(inputs=(Input("day", "string", required=True),)).params
    assert (params.get_param("day").schema, params.get_param("day").value) == ({}, None)


def test_the_result_is_airflows_result_of_the_dag_and_no_other_task_is():
    dag = build(step("a"), step("b"), result="b")
    marked = {task.task_id for task in dag.tasks if task.returns_dag_result}
    assert (marked, dag.task_ids) == ({"b"}, ["a", "b", "workflow_outcome"])


def test_without_a_result_no_task_is_marked():
    assert not any(task.returns_dag_result for task in build(step("a"), fail_fast=True).tasks)
