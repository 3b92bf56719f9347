"""The one function that judges how a run's main steps ended, and the gate that follows from it.

States decide; records only explain (DESIGN 2). The step gate, the outcome, the hooks, the command
line and the tests all call these functions, so nothing else may judge a state. Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from mantle_provider.lifecycle.model import (
    CONDITION,
    DEPENDENCY,
    FAIL_FAST,
    NOT_TAKEN,
    WORKFLOW_TIMEOUT,
    NodeStatus,
    Phase,
    WorkflowNodeState,
    WorkflowState,
)
from mantle_provider.lifecycle.standing import Judge, ways_taken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mantle_provider.lifecycle.graph import WorkflowGraph
    from mantle_provider.lifecycle.model import ErrorRecord
    from mantle_provider.lifecycle.standing import Standing

KILLED_REASON = "killed, lost or marked failed"
SKIPPED_BY_ACTION = "skipped by its action"
SKIPPED_BY_MARK = "skipped when the run was marked"
SKIPPED_BEFORE = "not taken before another step was marked or cleared"


def verdict(  # noqa: PLR0913  # what is known of a run has this many sides
    graph: WorkflowGraph,
    states: Mapping[str, str | None],
    records: Mapping[str, ErrorRecord],
    *,
    routes: Mapping[str, str] | None = None,
    ended_at: Mapping[str, float] | None = None,
    deadline: float | None = None,
    timeout_text: str | None = None,
) -> WorkflowState:
    """Judge how the main steps ended.

    :param states: step -> Airflow task state; ``None`` or absent where there is none.
    :param records: step -> the record of its current try; counts only while the step's state is
        failed or skipped.
    :param routes: router -> the case it chose.
    :param ended_at: step -> when it ended, in seconds since the epoch, where known.
    :param deadline: when the workflow's ``timeout`` ran out, on the same clock.
    :param timeout_text: the workflow's ``timeout`` in Go's form, for the message.
    """
    times = ended_at or {}
    cut = {
        name
        for name, state in states.items()
        if state == "failed" and _is_ended_early(records.get(name), times.get(name), deadline)
    }
    judge = Judge(graph, states, ways_taken(records, routes), cut)
    nodes = {
        node.name: _node_state(node.name, states, records, judge, ended_at=times.get(node.name))
        for node in graph.nodes
    }
    # The sort is stable: equal and unknown times stay in topological order, unknown ones last.
    failed = sorted(
        (name for name in judge.standings if nodes[name].effect is not None),
        key=lambda name: times.get(name, inf),
    )
    fatal = [name for name in failed if nodes[name].effect == "fatal"]
    timeout_error = "workflow timed out" + (f" after {timeout_text}" if timeout_text else "")
    if not fatal:
        return _without_fatal_failure(nodes, judge.standings, failed, timeout_error)

    # What `fail_fast` stopped is no cause, whatever the times of the states say, and neither is
    # what only has not recovered because its recovery was ended early.
    causes = [
        name
        for name in fatal
        if not _is_stopped(nodes[name].failure_cause)
        and (name in cut or judge.last_failure(name) not in cut)
    ]
    first = (causes or fatal)[0]
    cause, last = nodes[first], nodes[judge.last_failure(first)]
    error = cause.failure_cause.message if cause.failure_cause else cause.reason
    is_timed_out = _is_cut(last.failure_cause, last.ended_at, deadline)
    if is_timed_out:
        error = timeout_error
    return WorkflowState(
        status="timed_out" if is_timed_out else "failed",
        nodes=nodes,
        failed_step=first,
        failed_steps=(first, *(name for name in failed if name != first)),
        error=error,
    )


def fits_outcome(status: str, outcome_state: str | None) -> bool:
    """Return whether a verdict's status fits the state its outcome task has now (DESIGN 3.6).

    A verdict stays where it was stored when its task is cleared or marked.
    """
    if outcome_state == "success":
        return status == "completed"
    return outcome_state == "failed" and status in {"failed", "timed_out"}


def stopped_early(records: Mapping[str, ErrorRecord]) -> set[str]:
    """Return the steps that the deadline or ``fail_fast`` ended, as far as their records tell."""
    ended_by = {FAIL_FAST, WORKFLOW_TIMEOUT}
    return {name for name, record in records.items() if record.type in ended_by}


def first_fatal(
    graph: WorkflowGraph,
    states: Mapping[str, str | None],
    taken: Mapping[str, str] | None = None,
) -> str | None:
    """Return a step whose failure is fatal, ``None`` while there is none.

    :param taken: see :func:`~mantle_provider.lifecycle.standing.ways_taken`.
    """
    judge = Judge(graph, states, taken)
    failed = (name for name in judge.standings if states.get(name) == "failed")
    return next((name for name in failed if judge.effect(name) == "fatal"), None)


def _node_state(
    name: str,
    states: Mapping[str, str | None],
    records: Mapping[str, ErrorRecord],
    judge: Judge,
    *,
    ended_at: float | None,
) -> WorkflowNodeState:
    state, record = states.get(name), records.get(name)
    standing = judge.standings[name]
    obstacle = _obstacle(standing.blocker, states, records)
    status, reason = _status(state, record, obstacle, is_not_taken=standing.is_not_taken)
    has_failed = state == "failed" and status != NodeStatus.CANCELLED
    return WorkflowNodeState(
        node_id=name,
        status=status,
        effect=judge.effect(name) if has_failed else None,
        failure_cause=record if state == "failed" else None,
        reason=reason,
        ended_at=ended_at,
        cancelled_by=standing.blocker if status is NodeStatus.CANCELLED else None,
    )


def _obstacle(
    blocker: str | None, states: Mapping[str, str | None], records: Mapping[str, ErrorRecord]
) -> str | None:
    """Return in words what kept a step from running."""
    if blocker is None:
        return None
    status, _ = failed_status(records.get(blocker))
    has_failed = states[blocker] == "failed" and status != NodeStatus.CANCELLED
    return f'step "{blocker}" {"failed" if has_failed else "did not run"}'


def _status(
    state: str | None, record: ErrorRecord | None, obstacle: str | None, *, is_not_taken: bool
) -> tuple[NodeStatus, str | None]:
    """Return a step's status and its reason (LANGUAGE, "Node status")."""
    if state == "success":
        return NodeStatus.COMPLETED, None
    if state == "failed":
        return failed_status(record)
    if state == "upstream_failed":
        return NodeStatus.CANCELLED, obstacle
    if state == "skipped" and is_not_taken:
        return NodeStatus.SKIPPED, NOT_TAKEN
    if state == "skipped":
        return _skipped_status(record, obstacle)
    return NodeStatus.NOT_RUN, None


def _skipped_status(
    record: ErrorRecord | None, obstacle: str | None
) -> tuple[NodeStatus, str | None]:
    """Return the status of a step whose task is skipped, and its reason.

    A step that skips itself says so. One that says nothing was skipped by a mark of the run, and
    a clear of another step can revive the run without it.
    """
    kind = record.type if record else None
    # A user who marks the failed step success by hand leaves a cancelled one skipped: Airflow
    # clears only what is failed or upstream_failed below (DAG.set_task_instance_state).
    if obstacle or kind == DEPENDENCY:
        return NodeStatus.CANCELLED, obstacle
    if kind is None:
        return NodeStatus.NOT_RUN, SKIPPED_BY_MARK
    if kind == NOT_TAKEN:
        return NodeStatus.NOT_RUN, SKIPPED_BEFORE
    return NodeStatus.SKIPPED, CONDITION if kind == CONDITION else SKIPPED_BY_ACTION


def failed_status(record: ErrorRecord | None) -> tuple[NodeStatus, str | None]:
    """Return the status of a step whose task is failed, and its reason in words.

    :param record: of its current try, ``None`` when it left none.
    """
    if record is None:
        return NodeStatus.KILLED, KILLED_REASON
    if record.type in {FAIL_FAST, WORKFLOW_TIMEOUT} and record.phase == Phase.EDGE_CONDITION.value:
        # Kept from starting. It is failed in Airflow, so that its dependents end without a worker.
        return NodeStatus.CANCELLED, record.message
    if _is_stopped(record):
        return NodeStatus.KILLED, record.message
    return NodeStatus.FAILED, None


def _is_stopped(record: ErrorRecord | None) -> bool:
    """Return whether a step was ended because another one failed."""
    return record is not None and record.type == FAIL_FAST


def _is_ended_early(
    record: ErrorRecord | None, ended_at: float | None, deadline: float | None
) -> bool:
    """Return whether no key of a failed step is asked (LANGUAGE, "Failure keys", row 2)."""
    return _is_stopped(record) or _is_cut(record, ended_at, deadline)


def _is_cut(record: ErrorRecord | None, ended_at: float | None, deadline: float | None) -> bool:
    """Return whether a failed step is the deadline's doing; no key of the step is asked then.

    A step that failed by itself after the deadline counts too: nothing was to run any more.
    """
    if record is not None and record.type == WORKFLOW_TIMEOUT:
        return True
    return deadline is not None and ended_at is not None and ended_at >= deadline


def _without_fatal_failure(
    nodes: Mapping[str, WorkflowNodeState],
    standings: Mapping[str, Standing],
    failed: list[str],
    timeout_error: str,
) -> WorkflowState:
    """Return a completed workflow, unless a step did not run although nothing blocked it.

    No step has failed when the deadline passed while all that was left waited for a slot, or when
    the one that made ``fail_fast`` end the others was marked success afterwards.
    """
    kept = [node.failure_cause for node in nodes.values() if node.failure_cause and not node.effect]
    if any(record.type == WORKFLOW_TIMEOUT for record in kept):
        return WorkflowState("timed_out", nodes, failed_steps=tuple(failed), error=timeout_error)
    if kept:
        error = kept[0].message
        return WorkflowState("failed", nodes, failed_steps=tuple(failed), error=error)
    for name, standing in standings.items():
        has_run = nodes[name].status not in (NodeStatus.CANCELLED, NodeStatus.NOT_RUN)
        if not has_run and standing.blocker is None:
            error = f'step "{name}" did not run'
            return WorkflowState("failed", nodes, failed_steps=tuple(failed), error=error)
    return WorkflowState("completed", nodes, failed_steps=tuple(failed))
