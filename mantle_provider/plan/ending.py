"""The tasks that are no steps: before the first step, and after the last one (DESIGN 2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mantle_provider.lifecycle import ADMISSION, CALLBACK, OUTCOME, STARTED
from mantle_provider.plan.model import (
    EMPTY_OPERATOR,
    HOOKS_DONE,
    STARTED_DONE,
    STATUS,
    DagPlan,
    TaskPlan,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mantle_provider.plan.model import Rule

OUTCOME_OPERATOR = "mantle_provider.operators.outcome.WorkflowOutcomeOperator"
ADMISSION_OPERATOR = "mantle_provider.operators.admission.WorkflowAdmissionOperator"
STARTED_OPERATOR = "mantle_provider.operators.started.WorkflowStartedOperator"
CALLBACK_OPERATOR = "mantle_provider.operators.callback.WorkflowCallbackOperator"

OWN_RETRIES = 3
"""How often Airflow repeats a task of ours whose process was lost."""
OWN_RETRY_DELAY_SECONDS = 5.0


def admission_task(airflow: Mapping[str, Any]) -> TaskPlan:
    """Return the task that refuses a run above the limit; every first step waits for it.

    One at a time over all runs, so that no two of them take the last place.

    :param airflow: what the workflow asks of Airflow for all its tasks.
    """
    one_at_a_time = {**airflow, "max_active_tis_per_dag": 1}
    return _own_task(ADMISSION, ADMISSION_OPERATOR, (), "all_success", one_at_a_time)


def started_tasks(
    upstream: tuple[str, ...], airflow: Mapping[str, Any]
) -> tuple[TaskPlan, TaskPlan]:
    """Return the task that tells the listeners of the start, and the one that steps wait for.

    The second succeeds however the first ended, since listeners never change a run.
    """
    told = _own_task(STARTED, STARTED_OPERATOR, upstream, "all_success", airflow)
    return told, _empty_task(STARTED_DONE, (STARTED,), "all_done", airflow)


def outcome_task(tasks: Sequence[TaskPlan], airflow: Mapping[str, Any]) -> TaskPlan:
    """Return the task that judges.

    It waits for every step, not for the sinks alone: a sink is upstream_failed, and so ended,
    while other steps still run (AIRFLOW.md 3).
    """
    upstream = tuple(task.task_id for task in tasks)
    return _own_task(OUTCOME, OUTCOME_OPERATOR, upstream, "all_done", airflow)


def end_tasks(
    hooks: Sequence[TaskPlan], airflow: Mapping[str, Any], *, has_callback: bool
) -> list[TaskPlan]:
    """Return the last tasks; the very last is the only leaf, and so the colour of the run.

    It copies the outcome's, since ``hooks_done`` never fails (AIRFLOW.md 1).
    """
    last = tuple(task.task_id for task in hooks)
    tasks = []
    if has_callback:
        upstream = (OUTCOME, *last)
        tasks.append(_own_task(CALLBACK, CALLBACK_OPERATOR, upstream, "all_done", airflow))
        last = (*last, CALLBACK)
    tasks.append(_empty_task(HOOKS_DONE, last, "all_done", airflow))
    tasks.append(_empty_task(STATUS, (OUTCOME, HOOKS_DONE), "all_success", airflow))
    return tasks


def with_end(plan: DagPlan, *, has_callback: bool) -> DagPlan:
    """Return a plan that has an outcome, and if asked for a callback task, besides what it had.

    For operators of the user's that want to know how their step or the workflow ended, of which
    the file says nothing. ``version`` stays the file's.
    """
    task_ids = [task.task_id for task in plan.tasks]
    if OUTCOME in task_ids and (CALLBACK in task_ids or not has_callback):
        return plan
    end = task_ids.index(OUTCOME) if OUTCOME in task_ids else len(task_ids)
    steps = plan.tasks[:end]
    hooks = [task for task in plan.tasks[end + 1 :] if task.task_id not in {HOOKS_DONE, STATUS}]
    tasks = [*steps, outcome_task(steps, plan.airflow), *hooks]
    if has_callback:
        tasks += end_tasks(hooks, plan.airflow, has_callback=True)
    return replace(plan, tasks=tuple(tasks))


def _own_task(
    task_id: str,
    operator: str,
    upstream: tuple[str, ...],
    trigger_rule: Rule,
    airflow: Mapping[str, Any],
) -> TaskPlan:
    return TaskPlan(
        task_id=task_id,
        operator=operator,
        upstream=upstream,
        trigger_rule=trigger_rule,
        retries=OWN_RETRIES,
        retry_delay_seconds=OWN_RETRY_DELAY_SECONDS,
        airflow=airflow,
    )


def _empty_task(
    task_id: str, upstream: tuple[str, ...], trigger_rule: Rule, airflow: Mapping[str, Any]
) -> TaskPlan:
    return TaskPlan(
        task_id=task_id,
        operator=EMPTY_OPERATOR,
        upstream=upstream,
        trigger_rule=trigger_rule,
        airflow=airflow,
    )
