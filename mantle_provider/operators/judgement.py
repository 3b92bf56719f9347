"""How a run stands, as one of its tasks sees it: the verdict, and what the run alone knows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from mantle_provider.actions.workflow import WORKFLOW_RUN
from mantle_provider.lifecycle import (
    CALLBACK,
    ENDED_STATES,
    NodeStatus,
    WorkflowGraph,
    WorkflowState,
    verdict,
)
from mantle_provider.operators.notes import StoredNotes
from mantle_provider.operators.run_reader import CHILD_RUN, RunReader, run_started_at
from mantle_provider.operators.versions import with_versions
from mantle_provider.workflow.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk import DAG
    from airflow.sdk.definitions.context import Context


def judge_run(context: Context, reader: RunReader, workflow: Mapping[str, Any]) -> WorkflowState:
    """Judge the main steps by the states that they have now."""
    states = reader.step_states()
    rejection = reader.rejection() if workflow["reject_above"] else None
    timeout = workflow["timeout_seconds"]
    state = verdict(
        reader.graph,
        states,
        reader.records(states),
        routes=reader.routes(),
        ended_at=reader.ended_at() if "failed" in states.values() else {},
        deadline=None if timeout is None else run_started_at(context) + timeout,
        timeout_text=None if timeout is None else format_duration(timedelta(seconds=timeout)),
    )
    state = with_versions(state, reader, workflow)
    # No step has run, which the states alone would call a step that did not run.
    return replace(state, error=rejection) if rejection else state


def with_run_ids(state: WorkflowState, dag: DAG, reader: RunReader) -> WorkflowState:
    """Return the state with the runs that ``workflow/run`` steps have started."""
    nodes = dict(state.nodes)
    for other in dag.tasks:
        step = getattr(other, "mantle_step", None)
        if step and step["action"] == WORKFLOW_RUN.name and other.task_id in nodes:
            if nodes[other.task_id].status in {NodeStatus.CANCELLED, NodeStatus.NOT_RUN}:
                continue
            run_id = reader.xcom(other.task_id, CHILD_RUN)
            nodes[other.task_id] = replace(nodes[other.task_id], run_id=run_id)
    return replace(state, nodes=nodes)


def with_properties(state: WorkflowState, dag: DAG, reader: RunReader) -> WorkflowState:
    """Return the state with the run's notes, as far as the tasks that wrote them have ended."""
    return replace(state, properties=StoredNotes(dag, reader))


def with_result(
    state: WorkflowState, reader: RunReader, workflow: Mapping[str, Any]
) -> WorkflowState:
    """Return the state with the output of the step that the workflow names as its result."""
    step = workflow["result"]
    output = None if step is None else reader.output(step)
    return replace(state, result_step=step, result_output=output)


def has_callback(dag: DAG) -> bool:
    """Whether a run of a Dag ends with a call to somebody."""
    return CALLBACK in dag.task_ids


def state_now(context: Context, workflow: Mapping[str, Any]) -> WorkflowState:
    """Return the state of a run as it is while one of its tasks runs.

    Before the outcome has judged, a step that has not ended is ``NOT_RUN`` with the state of its
    task as reason, and the status is ``running`` until a fatal failure decides it.
    """
    dag = context["dag"]
    reader = RunReader(context["ti"], WorkflowGraph.from_data(workflow["graph"]))
    state = reader.workflow_state()
    if state is None:
        state = _state_so_far(context, reader, workflow)
        state = with_run_ids(state, dag, reader)
    state = with_properties(state, dag, reader)
    return with_result(state, reader, workflow)


def _state_so_far(
    context: Context, reader: RunReader, workflow: Mapping[str, Any]
) -> WorkflowState:
    state = judge_run(context, reader, workflow)
    if reader.is_judged():
        return replace(state, status="failed", failed_step=None, error="outcome lost")
    pending = {
        name: held for name, held in reader.step_states().items() if held not in ENDED_STATES
    }
    if not pending:
        return state
    nodes = dict(state.nodes)
    for name, held in pending.items():
        nodes[name] = replace(nodes[name], reason=f"not ended: {held or 'not scheduled'}")
    if state.failed_step is None:
        return replace(state, nodes=nodes, status="running", error=None)
    return replace(state, nodes=nodes)
