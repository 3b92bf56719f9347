import json
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone

import pytest

from mantle_provider.plan import DagPlan, TaskPlan
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

CHUNK = "mantle_provider.operators.text.TextChunkOperator"
EMPTY = "airflow.providers.standard.operators.empty.EmptyOperator"
OUTCOME = "mantle_provider.operators.outcome.WorkflowOutcomeOperator"


def make_step(name="a", **more):
    return Step(name=name, **{"action": "text/chunk", "params": {"text": "x"}, **more})


def make_workflow(*steps, **more):
    return Workflow(name="flow", steps=steps or (make_step(),), **more)


def plan_tasks(*steps, **more):
    return {task.task_id: task for task in plan_workflow(make_workflow(*steps, **more)).tasks}


def plan_step(**more):
    return plan_tasks(make_step(**more))["a"]


def full_workflow():
    return make_workflow(
        make_step("load", depends_on=("extract",), retry=Retry(3), max_parallel=2),
        make_step("extract", continue_on_error=True, condition="inputs.size > 1"),
        inputs=(Input("size", "number", default=3, enum=(1, 2, 3)),),
        triggers=(CronTrigger("0 6 * * *", "Europe/Berlin"),),
        timeout=timedelta(minutes=5),
        hooks=LifecycleHooks(
            timeout=timedelta(minutes=1),
            on_failure=(make_step("alert", continue_on_error=True), make_step("page")),
            on_finish=(make_step("tidy"),),
        ),
        airflow=AirflowOptions(tags=("one", "two"), pool="slow"),
        description="Moves data",
    )


def test_a_plain_workflow_is_its_steps_and_nothing_else():
    assert plan_workflow(make_workflow()) == DagPlan(
        dag_id="flow",
        version=plan_workflow(make_workflow()).version,
        tasks=(
            TaskPlan(
                task_id="a",
                operator=CHUNK,
                trigger_rule="none_failed",
                group="steps",
                arguments={"parameters": {"text": "x"}},
                step={
                    "name": "a",
                    "block": "steps",
                    "action": "text/chunk",
                    "condition": None,
                    "is_gated": False,
                    "credential": None,
                    "timeout_seconds": None,
                    "retry": None,
                    "continue_on_error": False,
                },
            ),
        ),
        start_date="2024-01-01T00:00:00+00:00",
        timezone="UTC",
        graph=({"name": "a"},),
    )


def test_tasks_stand_after_what_they_depend_on():
    tasks = plan_tasks(make_step("b", depends_on=("a",)), make_step("a"))

    assert {name: task.upstream for name, task in tasks.items()} == {"a": (), "b": ("a",)}


def test_steps_below_continue_on_error_decide_for_themselves():
    tasks = plan_tasks(make_step("a", continue_on_error=True), make_step("b", depends_on=("a",)))

    assert (tasks["a"].trigger_rule, tasks["a"].step["is_gated"]) == ("none_failed", False)
    assert (tasks["b"].trigger_rule, tasks["b"].step["is_gated"]) == ("all_done", True)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"hooks": LifecycleHooks(on_success=(make_step(),))}, id="on_success"),
        pytest.param({"hooks": LifecycleHooks(on_failure=(make_step(),))}, id="on_failure"),
        pytest.param({"hooks": LifecycleHooks(on_finish=(make_step(),))}, id="on_finish"),
        pytest.param({"timeout": timedelta(seconds=1)}, id="timeout"),
    ],
)
def test_a_workflow_whose_end_must_be_judged_has_an_outcome(more):
    assert plan_tasks(**more)["workflow_outcome"] == TaskPlan(
        task_id="workflow_outcome",
        operator=OUTCOME,
        upstream=("a",),
        trigger_rule="all_done",
        retries=3,
        retry_delay_seconds=5.0,
    )


def test_continue_on_error_needs_an_outcome():
    tasks = plan_tasks(make_step("a", continue_on_error=True))

    assert list(tasks) == ["a", "workflow_outcome"]


def test_the_outcome_depends_on_every_step_not_on_the_sinks_alone():
    tasks = plan_tasks(
        make_step("b", depends_on=("a",)), make_step("a"), timeout=timedelta(seconds=1)
    )

    assert tasks["workflow_outcome"].upstream == ("a", "b")


def test_a_budget_for_hooks_without_hooks_adds_no_task():
    assert list(plan_tasks(hooks=LifecycleHooks(timeout=timedelta(seconds=1)))) == ["a"]


def test_with_hooks_the_last_task_copies_the_colour_of_the_outcome():
    tasks = plan_tasks(
        hooks=LifecycleHooks(on_failure=(make_step("x"), make_step("y")), on_finish=(make_step(),))
    )

    assert list(tasks) == [
        "a",
        "workflow_outcome",
        "on_failure.block_begin",
        "on_failure.x",
        "on_failure.y",
        "on_finish.a",
        "hooks_done",
        "workflow_status",
    ]
    assert tasks["hooks_done"] == TaskPlan(
        task_id="hooks_done",
        operator=EMPTY,
        upstream=("on_failure.block_begin", "on_failure.x", "on_failure.y", "on_finish.a"),
        trigger_rule="all_done",
    )
    assert tasks["workflow_status"] == TaskPlan(
        task_id="workflow_status",
        operator=EMPTY,
        upstream=("workflow_outcome", "hooks_done"),
        trigger_rule="all_success",
    )


def test_a_hook_is_a_task_of_its_blocks_group():
    hooks = LifecycleHooks(on_success=(make_step("tell"),), on_finish=(make_step("tidy"),))
    task = plan_tasks(hooks=hooks)["on_finish.tidy"]

    assert (task.group, task.operator) == ("on_finish", CHUNK)
    assert task.step == {
        "name": "tidy",
        "block": "on_finish",
        "action": "text/chunk",
        "condition": None,
        "is_gated": False,
        "credential": None,
        "timeout_seconds": None,
        "retry": None,
        "continue_on_error": False,
        "hooks_before": [["on_success", "tell"]],
    }


def test_retry_attempts_count_the_first_try():
    retry = Retry(3, "exponential", timedelta(seconds=2), timedelta(seconds=30))
    task = plan_step(retry=retry)

    assert (task.retries, task.retry_delay_seconds) == (2, 2.0)
    assert task.step["retry"] == {
        "max_attempts": 3,
        "backoff": "exponential",
        "delay_seconds": 2.0,
        "max_delay_seconds": 30.0,
    }


def test_one_attempt_is_no_retry():
    assert plan_step(retry=Retry(1)).retries == 0


def test_airflows_own_timeout_strikes_a_minute_after_the_steps():
    task = plan_step(timeout=timedelta(milliseconds=1500))

    assert (task.step["timeout_seconds"], task.execution_timeout_seconds) == (1.5, 61.5)


def test_an_airflow_operator_is_planned_as_itself():
    task = plan_step(
        action="airflow/operator",
        params={"operator": "a.b.COperator", "sql": "select 1", "kwargs": {"x": [1]}},
    )

    assert task.operator == "a.b.COperator"
    assert task.arguments == {"sql": "select 1", "kwargs": {"x": [1]}}


def test_workflow_wide_options_reach_every_task_and_a_steps_own_win():
    tasks = plan_tasks(
        make_step(
            "a", airflow=StepAirflowOptions(pool="fast", executor_config={"x": 1}), max_parallel=4
        ),
        make_step("b"),
        airflow=AirflowOptions(pool="slow", queue="q", priority_weight=0, executor="e"),
        hooks=LifecycleHooks(on_finish=(make_step("c"),)),
    )
    shared = {"pool": "slow", "queue": "q", "priority_weight": 0, "executor": "e"}

    assert tasks["a"].airflow == {
        **shared,
        "pool": "fast",
        "executor_config": {"x": 1},
        "max_active_tis_per_dag": 4,
    }
    assert [task.airflow for name, task in tasks.items() if name != "a"] == [shared] * 5


def test_options_of_the_workflow_become_the_dags():
    plan = plan_workflow(
        make_workflow(
            description="Short",
            max_parallel_executions=2,
            timeout=timedelta(minutes=5),
            hooks=LifecycleHooks(timeout=timedelta(seconds=90)),
            inputs=(Input("size", "number", "How much", 3, enum=(1, 2, 3)), Input("any")),
            airflow=AirflowOptions(
                tags=("t",), owner="me", catchup=True, max_active_tasks=8, doc="# Long"
            ),
        )
    )

    assert (plan.description, plan.doc, plan.tags, plan.owner) == ("Short", "# Long", ("t",), "me")
    assert (plan.catchup, plan.max_active_runs, plan.max_active_tasks) == (True, 2, 8)
    assert (plan.timeout_seconds, plan.hooks_timeout_seconds) == (300.0, 90.0)
    assert plan.inputs == (
        {
            "name": "size",
            "type": "number",
            "description": "How much",
            "default": 3,
            "required": False,
            "enum": [1, 2, 3],
        },
        {
            "name": "any",
            "type": None,
            "description": "",
            "default": None,
            "required": False,
            "enum": [],
        },
    )


def test_the_doc_is_the_description_unless_the_file_gives_one():
    assert plan_workflow(make_workflow(description="Short")).doc == "Short"


@pytest.mark.parametrize(
    ("triggers", "zone", "schedules", "timezone_of_dates"),
    [
        pytest.param((CronTrigger("@daily"),), None, (("@daily", "UTC"),), "UTC", id="no-zone"),
        pytest.param(
            (CronTrigger("@daily"),),
            "Asia/Tokyo",
            (("@daily", "Asia/Tokyo"),),
            "Asia/Tokyo",
            id="the-dags",
        ),
        pytest.param(
            (CronTrigger("0 6 * * *", "Europe/Berlin"), CronTrigger("0 6 * * *", "Asia/Tokyo")),
            None,
            (("0 6 * * *", "Europe/Berlin"), ("0 6 * * *", "Asia/Tokyo")),
            "Europe/Berlin",
            id="its-own",
        ),
        pytest.param(
            (CronTrigger("0 6 * * *"), CronTrigger("0 6 * * *", "Asia/Tokyo")),
            None,
            (("0 6 * * *", "UTC"), ("0 6 * * *", "Asia/Tokyo")),
            "Asia/Tokyo",
            id="not-its-neighbours",
        ),
    ],
)
def test_a_schedule_is_in_its_own_zone_or_the_dags(triggers, zone, schedules, timezone_of_dates):
    plan = plan_workflow(make_workflow(triggers=triggers, airflow=AirflowOptions(timezone=zone)))

    assert (plan.schedules, plan.timezone) == (schedules, timezone_of_dates)


@pytest.mark.parametrize(
    ("start", "zone", "expected"),
    [
        pytest.param(None, None, "2024-01-01T00:00:00+00:00", id="default"),
        pytest.param(None, "Asia/Tokyo", "2024-01-01T00:00:00+09:00", id="default-in-zone"),
        pytest.param(date(2026, 7, 1), "Europe/Berlin", "2026-07-01T00:00:00+02:00", id="date"),
        pytest.param(
            datetime(2026, 1, 1, 8, 30),  # noqa: DTZ001  # a naive time is the case
            "Europe/Berlin",
            "2026-01-01T08:30:00+01:00",
            id="naive",
        ),
        pytest.param(
            datetime(2026, 3, 29, 2, 30),  # noqa: DTZ001  # a time that summer time skips
            "Europe/Berlin",
            "2026-03-29T02:30:00+01:00",
            id="skipped-by-summer-time",
        ),
        pytest.param(
            datetime(2026, 1, 1, tzinfo=timezone.utc),
            "Europe/Berlin",
            "2026-01-01T00:00:00+00:00",
            id="utc-is-kept",
        ),
        pytest.param(
            datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=8))),
            "Europe/Berlin",
            "2026-01-01T08:00:00+08:00",
            id="offset-is-kept",
        ),
    ],
)
def test_a_start_date_without_an_offset_is_local(start, zone, expected):
    """Source of the cases: astronomer/dag-factory#884."""
    options = AirflowOptions(start_date=start, timezone=zone)

    assert plan_workflow(make_workflow(airflow=options)).start_date == expected


def test_expressions_need_no_names_at_run_time():
    tasks = plan_tasks(
        make_step("fetch-data"),
        make_step(
            "b",
            condition="steps.fetch-data.status == 'COMPLETED'",
            params={"text": ["{{ steps.fetch-data.output }}", "steps.fetch-data.output", 1, None]},
        ),
        hooks=LifecycleHooks(
            on_finish=(
                make_step("tell-me"),
                make_step("c", params={"text": {"x": "{{ hooks.tell-me.error }}"}}),
            )
        ),
    )

    assert tasks["b"].step["condition"] == "steps[\"fetch-data\"].status == 'COMPLETED'"
    assert tasks["b"].arguments["parameters"] == {
        "text": ['{{ steps["fetch-data"].output }}', "steps.fetch-data.output", 1, None]
    }
    assert tasks["on_finish.c"].arguments["parameters"] == {
        "text": {"x": '{{ hooks["tell-me"].error }}'}
    }


def test_a_step_that_an_expression_reads_is_upstream():
    tasks = plan_tasks(
        make_step("b", params={"text": "{{ steps['a'].output }}"}),
        make_step("a"),
    )

    assert tasks["b"].upstream == ("a",)


def test_a_plan_survives_json():
    plan = plan_workflow(full_workflow())

    assert DagPlan.from_data(json.loads(json.dumps(plan.to_data()))) == plan


def test_a_plan_does_not_depend_on_the_hash_seed():
    script = (
        "import sys, json; sys.path.insert(0, sys.argv[1]);"
        "from test_planner import *;"
        "print(json.dumps(plan_workflow(full_workflow()).to_data()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, __file__.rpartition("/")[0]],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(outputs) == 1
