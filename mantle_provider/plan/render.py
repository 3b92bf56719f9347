"""A plan as text for people and as JSON: what ``mantle plan`` prints and the golden files hold."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING

from mantle_provider.actions.airflow import AIRFLOW_OPERATOR
from mantle_provider.lifecycle import WorkflowGraph, failure_impacts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mantle_provider.lifecycle import Impact
    from mantle_provider.plan.model import DagPlan, TaskPlan

SHOWN_BY_THE_TASK = frozenset({"name", "block"})

MAX_NAMES = 5
"""How many of the steps that a failure would cancel are named; the JSON has them all."""


def render_plan(plan: DagPlan) -> str:
    """Return the whole plan as lines of text, ending in a line break.

    The Dag comes first, then its tasks in their order; what is absent is not shown.
    """
    lines = [*_dag_lines(plan)]
    impacts = _impacts(plan)
    for task in plan.tasks:
        lines += _task_lines(task, impacts.get(task.task_id))
    return "\n".join(lines) + "\n"


def render_plan_json(plan: DagPlan) -> str:
    """Return the plan as one JSON object with the fields of :class:`DagPlan`, and ``failures``.

    ``failures`` is a map of step name to ``effect`` (``fatal``, ``contained``, ``tolerated`` or
    ``recoverable``), ``otherwise`` (the same when no recovery is taken), ``cancels`` (names) and
    ``recoveries`` (a map of target to the names that stay cancelled).
    """
    failures = {name: impact.to_data() for name, impact in _impacts(plan).items()}
    data = {**plan.to_data(), "failures": failures}
    return dumps(data, indent=2, ensure_ascii=False) + "\n"


def _impacts(plan: DagPlan) -> dict[str, Impact]:
    graph = WorkflowGraph.from_data([dict(node) for node in plan.graph])
    return failure_impacts(graph, fail_fast=plan.fail_fast)


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
    handler = plan.error_handler or {}
    yield from _fields(
        {
            "catchup": "yes" if plan.catchup else "",
            "max active runs": plan.max_active_runs,
            "rejects above": plan.reject_above,
            "max active tasks": plan.max_active_tasks,
            "timeout": _seconds(plan.timeout_seconds),
            "hooks timeout": _seconds(plan.hooks_timeout_seconds),
            "fail fast": "yes" if plan.fail_fast else "",
            "result": plan.result,
            "error handler": handler.get("class_path"),
            "error handler targets": ", ".join(handler.get("targets", ())),
            "on finish": plan.on_finish,
            "listeners": ", ".join(plan.listeners),
        }
    )
    for declared in plan.inputs:
        details = {
            key: value
            for key, value in declared.items()
            if key != "name" and value not in (None, "", [])
        }
        yield f"  input {declared['name']} {_json(details)}"


def _task_lines(task: TaskPlan, impact: Impact | None) -> Iterator[str]:
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
    if impact:
        yield from _impact_lines(impact)
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


def _impact_lines(impact: Impact) -> Iterator[str]:
    """Yield what the step's failure would do: by itself, and with each recovery."""
    yield f"  failure {impact.otherwise}{_cancels(impact.cancels)}"
    for target, steps in impact.recoveries.items():
        yield f"  failure recoverable by {target}{_cancels(steps)}"


def _cancels(names: Sequence[str]) -> str:
    if not names:
        return ""
    rest = len(names) - MAX_NAMES
    return f", cancels {', '.join(names[:MAX_NAMES])}{f' and {rest} more' if rest > 0 else ''}"


def _fields(values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        if value not in (None, ""):
            yield f"  {name} {value}"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:g}s"


def _json(value: object) -> str:
    return dumps(value, ensure_ascii=False)
