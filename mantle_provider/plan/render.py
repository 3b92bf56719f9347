"""A plan as text for people: what ``mantle plan`` prints and the golden files hold."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING

from mantle_provider.actions.airflow import AIRFLOW_OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mantle_provider.plan.model import DagPlan, TaskPlan

SHOWN_BY_THE_TASK = frozenset({"name", "block"})


def render_plan(plan: DagPlan) -> str:
    """Return the whole plan as lines of text, ending in a line break.

    The Dag comes first, then its tasks in their order; what is absent is not shown.
    """
    lines = [*_dag_lines(plan), *(line for task in plan.tasks for line in _task_lines(task))]
    return "\n".join(lines) + "\n"


def _dag_lines(plan: DagPlan) -> Iterator[str]:
    yield f"dag {plan.dag_id}"
    yield f"  version {plan.version}"
    yield from _fields(
        {
            "description": _json(plan.description) if plan.description else "",
            "tags": ", ".join(plan.tags),
            "owner": plan.owner,
            "start date": plan.start_date,
        }
    )
    for cron, timezone in plan.schedules:
        yield f"  schedule {cron} ({timezone})"
    yield from _fields(
        {
            "catchup": "yes" if plan.catchup else "",
            "max active runs": plan.max_active_runs,
            "max active tasks": plan.max_active_tasks,
            "timeout": _seconds(plan.timeout_seconds),
            "hooks timeout": _seconds(plan.hooks_timeout_seconds),
        }
    )
    for declared in plan.inputs:
        details = {
            key: value
            for key, value in declared.items()
            if key != "name" and value not in (None, "", [])
        }
        yield f"  input {declared['name']} {_json(details)}"


def _task_lines(task: TaskPlan) -> Iterator[str]:
    yield ""
    yield f"task {task.task_id}"
    yield from _fields(
        {
            "group": task.group,
            "rule": task.trigger_rule,
            "upstream": ", ".join(task.upstream),
            "operator": task.operator,
            "retries": f"{task.retries} after {task.retry_delay_seconds:g}s"
            if task.retries
            else "",
            "execution timeout": _seconds(task.execution_timeout_seconds),
        }
    )
    step = {
        name: value
        for name, value in task.step.items()
        if name not in SHOWN_BY_THE_TASK and value not in (None, False, [])
    }
    is_foreign = task.step.get("action") == AIRFLOW_OPERATOR.name
    arguments = task.arguments if is_foreign else task.arguments.get("parameters", {})
    sections = {"step": step, "arguments": arguments, "airflow": task.airflow}
    for title, section in sections.items():
        if section:
            yield f"  {title}"
            yield from (f"    {name} {_json(value)}" for name, value in section.items())


def _fields(values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        if value not in (None, ""):
            yield f"  {name} {value}"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:g}s"


def _json(value: object) -> str:
    return dumps(value, ensure_ascii=False)
