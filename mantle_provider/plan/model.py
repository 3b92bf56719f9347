"""The Dag we intend, as plain data: it can be printed, stored, compared and built into Airflow."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Rule: TypeAlias = Literal[
    "all_done",
    "all_success",
    "none_failed",
    "none_failed_min_one_success",
    "one_done",
    "one_failed",
]
"""The Airflow trigger rules that a plan uses."""

EMPTY_OPERATOR = "airflow.providers.standard.operators.empty.EmptyOperator"

STARTED_DONE = "workflow_started_done"
HOOKS_DONE = "hooks_done"
STATUS = "workflow_status"


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One task to be built.

    :param operator: dotted path of the operator class; for the action ``airflow/operator`` that
        of the foreign class.
    :param arguments: the operator's own arguments: for our operators ``parameters``, for a
        foreign one what the file gives.
    :param step: what the step runtime needs, see :func:`mantle_provider.plan.step.step_data`;
        empty for tasks that are not steps.
    :param upstream: task ids, in the order of the plan.
    :param group: task group, ``None`` for the Dag itself.
    :param airflow: BaseOperator arguments beyond those named here, for example ``pool``.
    """

    task_id: str
    operator: str
    upstream: tuple[str, ...] = ()
    trigger_rule: Rule = "none_failed"
    group: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    step: Mapping[str, Any] = field(default_factory=dict)
    retries: int = 0
    retry_delay_seconds: float = 1.0
    execution_timeout_seconds: float | None = None
    airflow: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DagPlan:
    """One Dag to be built; tasks stand after everything they depend on.

    :param schedules: cron expressions with their time zone's name; several start the Dag at
        each of their times.
    :param start_date: ISO 8601 with offset; midnight of a fixed day in the past by default.
    :param inputs: declared inputs as JSON data, in the order of the file.
    :param version: ``def_version``, the fingerprint of everything that changes behaviour.
    :param graph: the main steps, as :meth:`WorkflowGraph.to_data` writes them.
    :param reject_above: how many runs may be at work before one more is refused, ``None`` where
        none is.
    :param timeout_seconds: the workflow's ``timeout``.
    :param hooks_timeout_seconds: the budget ``hooks.timeout``.
    :param error_handler: a map of ``class_path`` and ``targets``, ``None`` for no handler.
    :param on_finish: dotted path of the workflow's callback.
    :param listeners: dotted paths.
    :param result: the step whose output is the workflow's.
    :param airflow: BaseOperator arguments of every task that has none of its own.
    :param env: what the named environment gives for those ``env.X`` that expressions read. May
        hold secrets, so it is no part of the JSON data.
    """

    dag_id: str
    version: str
    tasks: tuple[TaskPlan, ...]
    description: str = ""
    doc: str = ""
    tags: tuple[str, ...] = ()
    owner: str | None = None
    schedules: tuple[tuple[str, str], ...] = ()
    start_date: str | None = None
    timezone: str | None = None
    catchup: bool = False
    max_active_runs: int | None = None
    max_active_tasks: int | None = None
    inputs: tuple[Mapping[str, Any], ...] = ()
    graph: tuple[Mapping[str, Any], ...] = ()
    fail_fast: bool = False
    reject_above: int | None = None
    timeout_seconds: float | None = None
    hooks_timeout_seconds: float | None = None
    error_handler: Mapping[str, Any] | None = None
    on_finish: str | None = None
    listeners: tuple[str, ...] = ()
    result: str | None = None
    airflow: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] | None = field(default=None, repr=False)

    def to_data(self) -> dict[str, Any]:
        """Return the plan as JSON data without ``env``; it shares its maps with the plan."""
        data = {**_fields(self), "tasks": [_fields(task) for task in self.tasks]}
        del data["env"]
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any], env: Mapping[str, str] | None = None) -> DagPlan:
        """Read what :meth:`to_data` wrote, also after a round trip through JSON."""
        tasks = tuple(
            TaskPlan(**{**task, "upstream": tuple(task["upstream"])}) for task in data["tasks"]
        )
        return cls(
            **{
                **data,
                "tasks": tasks,
                "tags": tuple(data["tags"]),
                "schedules": tuple((cron, zone) for cron, zone in data["schedules"]),
                "inputs": tuple(data["inputs"]),
                "graph": tuple(data["graph"]),
                "listeners": tuple(data["listeners"]),
                "env": env,
            }
        )


def _fields(data: DagPlan | TaskPlan) -> dict[str, Any]:
    """Return a dataclass as a map, without the copy of all below it that ``asdict`` makes."""
    return {declared.name: getattr(data, declared.name) for declared in fields(data)}
