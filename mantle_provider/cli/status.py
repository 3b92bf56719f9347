"""How a run stands, from what Airflow tells of its tasks and what the outcome left.

The outcome's verdict counts only while it fits what the tasks are now (DESIGN 3.6). Without one
the states of the tasks are told as they are, and nothing is concluded from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mantle_provider.diagnostics.wording import quote
from mantle_provider.lifecycle import (
    ERROR,
    OUTCOME,
    STATE,
    NodeStatus,
    WorkflowState,
    WorkflowStatus,
    fits_outcome,
    topological_order,
)
from mantle_provider.plan.model import HOOKS_DONE
from mantle_provider.workflow.model import HOOK_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from mantle_provider.cli.runs import AirflowRuns, Run, Task

RunStatus: TypeAlias = (
    WorkflowStatus | Literal["queued", "running", "cancelled", "stale"]  # what no verdict says
)

_STATES: Mapping[NodeStatus, set[str | None]] = {
    NodeStatus.COMPLETED: {"success"},
    NodeStatus.FAILED: {"failed"},
    NodeStatus.KILLED: {"failed"},
    NodeStatus.SKIPPED: {"skipped"},
    # Failed is what keeps its dependents from starting without a worker.
    NodeStatus.CANCELLED: {"upstream_failed", "skipped", "failed"},
    # Skipped is what a mark of the run leaves, and a clear of another step may revive the run.
    NodeStatus.NOT_RUN: {None, "removed", "skipped"},
}
"""Status of a step -> the states that fit it."""


@dataclass(frozen=True, slots=True)
class StepReport:
    """How one main step stands.

    :param status: the verdict's; ``None`` where there is none that counts.
    :param state: Airflow's, ``None`` before it is scheduled.
    :param reason: why it failed, was skipped or was cancelled.
    :param cancelled_by: the failed step because of which it was cancelled.
    """

    name: str
    status: str | None
    effect: str | None
    state: str | None
    reason: str | None
    try_number: int
    duration_seconds: float | None
    cancelled_by: str | None = None


@dataclass(frozen=True, slots=True)
class HookReport:
    """How one hook stands; ``state`` is Airflow's."""

    block: str
    name: str
    state: str | None
    error: str | None
    try_number: int
    duration_seconds: float | None


@dataclass(frozen=True, slots=True)
class RunReport:
    """How a run stands.

    :param workflow_status: how the workflow ended, or that it has not, or is not known.
    :param verdict: what the outcome judged, ``None`` where there is nothing that counts.
    :param failed_step: the first cause, by the verdict.
    :param version: ``def_version`` of the workflow that was judged, by the verdict.
    :param started_version: the one that the run started under.
    :param stale: why the verdict no longer counts, and the cure.
    """

    dag_id: str
    run_id: str
    run_state: str
    workflow_status: RunStatus
    verdict: WorkflowStatus | None
    failed_step: str | None
    error: str | None
    stale: str | None
    duration_seconds: float | None
    version: str | None
    started_version: str | None
    steps: tuple[StepReport, ...]
    hooks: tuple[HookReport, ...]

    @property
    def is_bad(self) -> bool:
        """Whether the run has ended otherwise than completed."""
        if self.run_state not in {"success", "failed"}:
            return False
        if self.workflow_status == "stale":
            return self.run_state == "failed"
        return self.workflow_status != "completed"


def read_report(runs: AirflowRuns, run: Run) -> RunReport:
    """Ask Airflow how a run stands.

    :raises RestError: it does not say so properly.
    """
    tasks = runs.tasks(run)
    verdict, stale = read_verdict(runs, run, tasks)
    counted = None if stale else verdict
    if counted is not None:
        steps = [_judged_step(counted, name, tasks.get(name)) for name in counted.nodes]
    else:
        order = tuple(verdict.nodes) if verdict else _main_steps(tasks, runs.downstream(run))
        steps = [_unjudged_step(runs, run, name, tasks.get(name)) for name in order]
    status = "stale" if stale else _workflow_status(run, tasks, counted)
    return RunReport(
        dag_id=run.dag_id,
        run_id=run.run_id,
        run_state=run.state,
        workflow_status=status,
        verdict=counted.status if counted else None,
        failed_step=counted.failed_step if counted else None,
        error=counted.error if counted else _lost_verdict(status, tasks),
        stale=stale,
        duration_seconds=run.duration_seconds,
        version=counted.version if counted else None,
        started_version=counted.started_version if counted else None,
        steps=tuple(steps),
        hooks=_hooks(runs, run, tasks),
    )


def read_verdict(
    runs: AirflowRuns, run: Run, tasks: Mapping[str, Task]
) -> tuple[WorkflowState | None, str | None]:
    """Return the verdict that fits the outcome's state, if any, and why it is stale, if it is.

    :param tasks: those of the run, by their ids.
    """
    outcome = tasks.get(OUTCOME)
    has_ended = outcome is not None and outcome.state in {"success", "failed"}
    stored = runs.xcom(run, OUTCOME, STATE) if has_ended else None
    if outcome is None or stored is None:
        return None, None
    try:
        verdict = WorkflowState.from_data(stored.value)
    except (AttributeError, KeyError, TypeError, ValueError):
        # Written by another version of the provider, or kept elsewhere by an XCom backend.
        return None, None
    if not fits_outcome(verdict.status, outcome.state):
        return None, None
    return verdict, _staleness(verdict, stored.stored_at, tasks)


def _staleness(
    verdict: WorkflowState, judged_at: datetime, tasks: Mapping[str, Task]
) -> str | None:
    for name, node in verdict.nodes.items():
        task = tasks.get(name)
        state = task.state if task else None
        ended_later = task is not None and task.ended_at is not None and task.ended_at > judged_at
        if ended_later or state not in _STATES[node.status]:
            cleared = "that step" if verdict.is_succeeded else "the failed step"
            return (
                f"step {quote(name)} changed after the workflow was judged;"
                f" clear {cleared} with Downstream to run again from there"
            )
    return None


def _workflow_status(
    run: Run, tasks: Mapping[str, Task], verdict: WorkflowState | None
) -> RunStatus:
    if run.is_finished and is_cancelled(run, tasks):
        return "cancelled"
    if verdict is not None:
        return verdict.status
    if run.state == "queued":
        return "queued"
    if not run.is_finished:
        return "running"
    return "completed" if run.state == "success" else "failed"


def is_cancelled(run: Run, tasks: Mapping[str, Task]) -> bool:
    """Return whether a user ended the run, as far as the states tell.

    Airflow then skips what has not started. The outcome and the end of the hooks are never
    skipped otherwise, nor is, in a workflow without an outcome, a step before its first try.
    """
    own = [tasks[task_id] for task_id in (OUTCOME, HOOKS_DONE) if task_id in tasks]
    if own:
        return any(task.state == "skipped" for task in own)
    return run.state == "failed" and any(
        task.state == "skipped" and task.try_number == 0 for task in tasks.values()
    )


def _lost_verdict(status: RunStatus, tasks: Mapping[str, Task]) -> str | None:
    """Return what a run failed of that has an outcome and no verdict."""
    if status == "failed" and OUTCOME in tasks:
        return "the outcome left no verdict that can be read"
    return None


def _judged_step(verdict: WorkflowState, name: str, task: Task | None) -> StepReport:
    node = verdict.nodes[name]
    return StepReport(
        name=name,
        status=node.status.value,
        effect=node.effect,
        state=task.state if task else None,
        reason=node.failure_cause.message if node.failure_cause else node.reason,
        try_number=task.try_number if task else 0,
        duration_seconds=task.duration_seconds if task else None,
        cancelled_by=node.cancelled_by,
    )


def _unjudged_step(runs: AirflowRuns, run: Run, name: str, task: Task | None) -> StepReport:
    return StepReport(
        name=name,
        status=None,
        effect=None,
        state=task.state if task else None,
        reason=_read_error(runs, run, task) if task else None,
        try_number=task.try_number if task else 0,
        duration_seconds=task.duration_seconds if task else None,
    )


def _hooks(runs: AirflowRuns, run: Run, tasks: Mapping[str, Task]) -> tuple[HookReport, ...]:
    """Return the hooks by block, in each the ones that ended first, then by name."""
    found = []
    for task in sorted(tasks.values(), key=_by_end):
        block, _, name = task.task_id.partition(".")
        if block in HOOK_BLOCKS and not _is_own(name):
            error = _read_error(runs, run, task)
            found.append(
                HookReport(block, name, task.state, error, task.try_number, task.duration_seconds)
            )
    return tuple(sorted(found, key=lambda hook: HOOK_BLOCKS.index(hook.block)))


def _by_end(task: Task) -> tuple[bool, float, str]:
    ended_at = task.ended_at.timestamp() if task.ended_at else 0.0
    return (task.ended_at is None, ended_at, task.task_id)


def _main_steps(tasks: Mapping[str, Task], downstream: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the main steps so that each stands after what it waits for."""
    upstream: dict[str, list[str]] = {
        task_id: [] for task_id in tasks if "." not in task_id and not _is_own(task_id)
    }
    for task_id, followers in downstream.items():
        for follower in followers:
            if task_id in upstream and follower in upstream:
                upstream[follower].append(task_id)
    return topological_order(upstream)


def _is_own(name: str) -> bool:
    """Return whether a task is the topology's: the names of steps hold no underscore."""
    return "_" in name


def _read_error(runs: AirflowRuns, run: Run, task: Task) -> str | None:
    """Return why a failed task failed, ``None`` when its last try left no word."""
    if task.state != "failed":
        return None
    stored = runs.xcom(run, task.task_id, ERROR)
    record: Any = stored.value if stored else None
    # A record survives until the next try starts, which may be after its task changed state.
    if not isinstance(record, dict) or record.get("try_number") != task.try_number:
        return None
    return str(record.get("message"))
