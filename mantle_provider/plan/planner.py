"""From a workflow to the Dag we intend: the one place that knows both Mantle's words and Airflow's.

The topology is DESIGN 2; why each rule is what it is stands in ``docs/concepts.md``.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from mantle_provider.lifecycle import ADMISSION
from mantle_provider.plan.ending import admission_task, end_tasks, outcome_task, started_tasks
from mantle_provider.plan.fingerprint import fingerprint
from mantle_provider.plan.graph import gated_steps, workflow_graph
from mantle_provider.plan.hooks import place_hooks
from mantle_provider.plan.model import STARTED_DONE, DagPlan, TaskPlan
from mantle_provider.plan.step import Placement, Scope, plan_task, seconds, shared_arguments
from mantle_provider.workflow.model import HOOK_BLOCKS, CronTrigger
from mantle_provider.workflow.references import declared_names, read_environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mantle_provider.lifecycle import WorkflowGraph
    from mantle_provider.workflow.model import Artifact, Input, Step, Workflow

DEFAULT_START_DATE = date(2024, 1, 1)
"""Fixed, since a date relative to now would make a new Dag version at every parse."""
DEFAULT_TIMEZONE = "UTC"

_NO_LIMIT = 1_000_000
"""More runs than Airflow will ever start at once: none waits where it would be refused."""


def plan_workflow(workflow: Workflow) -> DagPlan:
    """Return the Dag that a valid workflow stands for.

    :param workflow: one that :mod:`mantle_provider.check` has found no error in.
    """
    graph = workflow_graph(workflow)
    options = workflow.airflow
    airflow = shared_arguments(options)
    timezone = _timezone(workflow)
    is_rejecting = _is_rejecting(workflow)
    plan = DagPlan(
        dag_id=workflow.name,
        version="",
        tasks=_plan_tasks(workflow, graph, airflow),
        description=workflow.description,
        doc=options.doc or workflow.description,
        tags=options.tags,
        owner=options.owner,
        schedules=tuple(
            (event.schedule, event.timezone or options.timezone or DEFAULT_TIMEZONE)
            for event in workflow.triggers
            if isinstance(event, CronTrigger)
        ),
        start_date=_start_date(options.start_date, timezone),
        timezone=timezone,
        catchup=options.catchup,
        max_active_runs=_NO_LIMIT if is_rejecting else workflow.max_parallel_executions,
        max_active_tasks=options.max_active_tasks,
        inputs=tuple(_input_data(declared) for declared in workflow.inputs),
        graph=tuple(graph.to_data()),
        fail_fast=workflow.fail_fast,
        reject_above=workflow.max_parallel_executions if is_rejecting else None,
        timeout_seconds=seconds(workflow.timeout),
        hooks_timeout_seconds=seconds(workflow.hooks.timeout),
        error_handler=_handler_data(workflow),
        on_finish=workflow.on_finish_callback,
        listeners=workflow.listeners,
        result=workflow.result,
        airflow=airflow,
        env=read_environment(workflow) or None,
    )
    return replace(plan, version=fingerprint(plan))


def _plan_tasks(
    workflow: Workflow, graph: WorkflowGraph, airflow: Mapping[str, Any]
) -> tuple[TaskPlan, ...]:
    """Return all tasks.

    :param airflow: what the workflow asks of Airflow for all of them.
    """
    scope = Scope(
        names=dict(declared_names(workflow)),
        airflow=airflow,
        has_handler=workflow.error_handler is not None,
    )
    tasks: list[TaskPlan] = []
    if _is_rejecting(workflow):
        tasks.append(admission_task(airflow))
    if workflow.listeners:
        tasks += started_tasks(tuple(task.task_id for task in tasks), airflow)
    tasks += [plan_task(place, scope) for place in _place_steps(workflow, graph)]
    if _has_outcome(workflow):
        tasks.append(outcome_task(tasks, airflow))
    if _has_hooks(workflow) or _has_callback(workflow):
        hooks = [plan_task(place, scope) for place in place_hooks(workflow.hooks)]
        tasks += [*hooks, *end_tasks(hooks, airflow, has_callback=_has_callback(workflow))]
    return tuple(tasks)


def _place_steps(workflow: Workflow, graph: WorkflowGraph) -> list[Placement]:
    steps = {step.name: step for step in (*workflow.before_start, *workflow.steps)}
    gated = gated_steps(graph)
    first = (ADMISSION,) if _is_rejecting(workflow) else ()
    if workflow.listeners:
        first = (*first, STARTED_DONE)
    return [
        Placement(
            task_id=name,
            upstream=above or first,
            trigger_rule="all_done" if name in gated else "none_failed",
            block="steps",
            step=steps[name],
            is_gated=name in gated,
        )
        for name, above in graph.upstream.items()
    ]


def _has_hooks(workflow: Workflow) -> bool:
    return any(workflow.hooks.block(block) for block in HOOK_BLOCKS)


def _has_callback(workflow: Workflow) -> bool:
    """Whether somebody is called after the hooks, or files of the run are removed then."""
    return (
        workflow.on_finish_callback is not None
        or bool(workflow.listeners)
        or any(artifact.keep != "always" for artifact in _artifacts(workflow))
    )


def _artifacts(workflow: Workflow) -> Iterator[Artifact]:
    hooks = (workflow.hooks.block(block) for block in HOOK_BLOCKS)
    for steps in (workflow.before_start, workflow.steps, *hooks):
        for step in steps:
            yield from step.artifacts


def _has_outcome(workflow: Workflow) -> bool:
    """Whether the end must be judged by a task; a plain workflow pays nothing for one."""
    return (
        _has_hooks(workflow)
        or _has_callback(workflow)
        or workflow.timeout is not None
        or workflow.fail_fast
        or bool(workflow.before_start)
        or _is_rejecting(workflow)
        or workflow.error_handler is not None
        or workflow.result is not None
        or any(step.on_finish_callback is not None for step in workflow.steps)
        or any(map(_may_end_unlike_the_rules, workflow.steps))
    )


def _may_end_unlike_the_rules(step: Step) -> bool:
    """Whether Airflow's rules alone could give the run a colour that is not the workflow's."""
    return (
        step.continue_on_error
        or bool(step.on_error)
        or bool(step.switch)
        or step.on_dep_failure != "fail_run"
    )


def _is_rejecting(workflow: Workflow) -> bool:
    return workflow.on_limit == "reject" and workflow.max_parallel_executions is not None


def _handler_data(workflow: Workflow) -> dict[str, Any] | None:
    handler = workflow.error_handler
    if handler is None:
        return None
    return {"class_path": handler.class_path, "targets": list(handler.targets)}


def _timezone(workflow: Workflow) -> str:
    """Return the zone that dates without one are in: the Dag's own, or the first schedule's."""
    zones = (event.timezone for event in workflow.triggers if isinstance(event, CronTrigger))
    return workflow.airflow.timezone or next(filter(None, zones), DEFAULT_TIMEZONE)


def _start_date(start: date | datetime | None, timezone: str) -> str:
    """Return the first moment for which there may be a run, as ISO 8601 with its offset.

    A date means midnight and a naive time local time, both in ``timezone``; an offset is kept.
    """
    if start is None:
        start = DEFAULT_START_DATE
    if not isinstance(start, datetime):
        start = datetime.combine(start, time())
    if start.tzinfo is None:
        start = start.replace(tzinfo=ZoneInfo(timezone))
    return start.isoformat()


def _input_data(declared: Input) -> dict[str, Any]:
    return {
        "name": declared.name,
        "type": declared.type,
        "description": declared.description,
        "default": declared.default,
        "required": declared.required,
        "enum": list(declared.enum),
    }
