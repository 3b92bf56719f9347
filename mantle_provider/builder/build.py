"""From a plan to an Airflow Dag. Decides nothing: what the Dag looks like stands in the plan."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from airflow.sdk import DAG, TaskGroup
from airflow.sdk.configuration import conf
from airflow.sdk.definitions.context import get_parsing_context
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.definitions.timetables.trigger import (
    CronTriggerTimetable,
    MultipleCronTriggerTimetable,
)

from mantle_provider.actions.airflow import AIRFLOW_OPERATOR
from mantle_provider.builder.executor_config import executor_config
from mantle_provider.builder.params import dag_params
from mantle_provider.callbacks import overrides
from mantle_provider.lifecycle import OUTCOME
from mantle_provider.operators.airflow import step_class
from mantle_provider.operators.imports import import_name
from mantle_provider.plan.ending import with_end
from mantle_provider.plan.model import EMPTY_OPERATOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk import BaseOperator
    from airflow.sdk.bases.timetable import BaseTimetable

    from mantle_provider.plan import DagPlan, TaskPlan

_MAIN_BLOCK = "steps"


def build_dag(plan: DagPlan) -> DAG:
    """Return the Dag that a plan describes.

    In a task process the params are built without types: Airflow checks them before any handler
    of ours, and an input whose type was edited would fail every hook of a cleared run. The step
    runtime checks them instead.

    :raises ConfigurationError: when an operator's module cannot be imported.
    """
    plan = _with_callers(plan)
    is_task_process = get_parsing_context().dag_id is not None
    dag = DAG(
        dag_id=plan.dag_id,
        description=plan.description or None,
        doc_md=_doc(plan),
        schedule=_schedule(plan),
        start_date=_start_date(plan),
        catchup=plan.catchup,
        tags=list(plan.tags),
        dagrun_timeout=None,
        fail_fast=False,
        **_limits(plan),
    )
    workflow = workflow_data(plan)
    groups: dict[str, TaskGroup] = {}
    tasks: dict[str, BaseOperator] = {}
    for task_plan in plan.tasks:
        group = _group(dag, groups, task_plan.group)
        task = _build_task(plan, task_plan, workflow, dag=dag, group=group)
        tasks[task_plan.task_id] = task
        # What set_upstream does for tasks of one Dag, without a tenth of the time of loading,
        # which it takes to find out that they are.
        task.upstream_task_ids.update(task_plan.upstream)
        for upstream in task_plan.upstream:
            tasks[upstream].downstream_task_ids.add(task_plan.task_id)
    if plan.result is not None:
        dag.add_result(tasks[plan.result].output)
    # Last: every operator copies, twice, the params that its Dag has when it is made, a third of
    # the time of loading; what a task sees of params at run time comes from the Dag anyway.
    dag.params = ParamsDict(dag_params(plan.inputs, is_typed=not is_task_process))
    return dag


def _with_callers(plan: DagPlan) -> DagPlan:
    """Return the plan with the tasks that call back operators of the user's choice."""
    classes = [_imported(task.operator) for task in plan.tasks if _is_foreign(task)]
    has_callback = any(overrides(found, "on_workflow_finish") for found in classes)
    # The outcome calls `on_finish` in place of a step that was killed.
    if has_callback or any(overrides(found, "on_finish") for found in classes):
        return with_end(plan, has_callback=has_callback)
    return plan


def has_foreign_operators(plan: DagPlan) -> bool:
    """Whether a plan has steps that run an operator of the user's choice."""
    return any(_is_foreign(task) for task in plan.tasks)


def _is_foreign(task: TaskPlan) -> bool:
    return bool(task.step) and task.step["action"] == AIRFLOW_OPERATOR.name


def workflow_data(plan: DagPlan) -> dict[str, Any]:
    """Return what every step of the Dag needs to know of the whole workflow."""
    return {
        "version": plan.version,
        "inputs": plan.inputs,
        "graph": plan.graph,
        "fail_fast": plan.fail_fast,
        "reject_above": plan.reject_above,
        "timeout_seconds": plan.timeout_seconds,
        "hooks_timeout_seconds": plan.hooks_timeout_seconds,
        "error_handler": plan.error_handler,
        "on_finish": plan.on_finish,
        "listeners": plan.listeners,
        "result": plan.result,
        "env": dict(plan.env or {}),
        "artifacts": {
            artifact["name"]: task.task_id
            for task in plan.tasks
            for artifact in task.step.get("artifacts", ())
        },
        "has_outcome": any(task.task_id == OUTCOME for task in plan.tasks),
    }


def _doc(plan: DagPlan) -> str:
    """The workflow's doc and its version, which must stand in the serialised Dag.

    Airflow makes a new Dag version when the serialised Dag changes, and most of what we know of
    a step is not serialised (AIRFLOW 22n).
    """
    version = f"Workflow version: `{plan.version}`"
    return f"{plan.doc}\n\n{version}" if plan.doc else version


def _schedule(plan: DagPlan) -> BaseTimetable | None:
    if not plan.schedules:
        return None
    crons = [cron for cron, _ in plan.schedules]
    timezone = plan.schedules[0][1]
    if len(crons) == 1:
        return CronTriggerTimetable(crons[0], timezone=timezone)
    return MultipleCronTriggerTimetable(*crons, timezone=timezone)


def _start_date(plan: DagPlan) -> datetime | None:
    return datetime.fromisoformat(plan.start_date) if plan.start_date else None


def _limits(plan: DagPlan) -> dict[str, Any]:
    """Return the limits that the workflow sets, and the cluster's own for the others."""
    limits = {"max_active_runs": plan.max_active_runs, "max_active_tasks": plan.max_active_tasks}
    given = {name: value for name, value in limits.items() if value is not None}
    return {**_cluster_defaults(), **given}


@cache
def _cluster_defaults() -> dict[str, Any]:
    """Return what a Dag would look up in Airflow's configuration, a fifth of its loading time."""
    return {
        "max_active_runs": conf.getint("core", "max_active_runs_per_dag"),
        "max_active_tasks": conf.getint("core", "max_active_tasks_per_dag"),
        "max_consecutive_failed_dag_runs": conf.getint(
            "core", "max_consecutive_failed_dag_runs_per_dag"
        ),
        "disable_bundle_versioning": conf.getboolean("dag_processor", "disable_bundle_versioning"),
    }


def _group(dag: DAG, groups: dict[str, TaskGroup], name: str | None) -> TaskGroup | None:
    if name is None:
        return None
    if name not in groups:
        is_main = name == _MAIN_BLOCK
        # A group's id shares one name space with task ids, and a step may be called "steps".
        groups[name] = TaskGroup(
            f"main_{name}" if is_main else name,
            group_display_name=name,
            prefix_group_id=not is_main,
            dag=dag,
            parent_group=dag.task_group,
        )
    return groups[name]


def _build_task(
    plan: DagPlan,
    task: TaskPlan,
    workflow: Mapping[str, Any],
    *,
    dag: DAG,
    group: TaskGroup | None,
) -> BaseOperator:
    """Build one operator; what a cluster could set a default for is always given."""
    arguments: dict[str, Any] = {**task.airflow, **task.arguments}
    if plan.owner is not None:
        arguments["owner"] = plan.owner
    if task.operator != EMPTY_OPERATOR:
        arguments["mantle_workflow"] = workflow
    if task.step:
        arguments["mantle_step"] = {**task.step, "arguments": tuple(task.arguments)}
    if "executor_config" in arguments:
        arguments["executor_config"] = executor_config(arguments["executor_config"])
    timeout = task.execution_timeout_seconds
    operator = operator_class(task)(
        task_id=task.task_id.rpartition(".")[2],  # a hook block's group puts its own id before
        task_group=group or dag.task_group,
        trigger_rule=task.trigger_rule,
        retries=task.retries,
        retry_delay=timedelta(seconds=task.retry_delay_seconds),
        execution_timeout=None if timeout is None else timedelta(seconds=timeout),
        **arguments,
    )
    # Not given to the constructor, which would copy the Dag's defaults and params at every level
    # of the class; there are none yet, and the copies take a tenth of the time of loading.
    operator.dag = dag
    return operator


def operator_class(task: TaskPlan) -> type[BaseOperator]:
    """Return the class of a task's operator, with the step runtime in it where it is a step."""
    imported = _imported(task.operator)
    return step_class(imported) if _is_foreign(task) else imported


@cache
def _imported(path: str) -> type[BaseOperator]:
    return import_name(path)  # type: ignore[no-any-return]  # rules and checks saw to it
