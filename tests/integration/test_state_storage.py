"""The state of a very large run in Airflow's own XCom table."""

from __future__ import annotations

import pytest

from mantle_provider.lifecycle import (
    STATE,
    Cause,
    ErrorRecord,
    NodeStatus,
    WorkflowNodeState,
    WorkflowState,
)
from mantle_provider.lifecycle.fitting import fitted
from mantle_provider.workflow.model import Workflow
from support.scheduling import SimulatedDag, make_step

pytestmark = pytest.mark.airflow


def failed_node(name, text):
    record = ErrorRecord(
        phase="EXECUTION",
        step=name,
        message=text,
        type="RuntimeError",
        try_number=1,
        at="2026-11-30T12:00:00+00:00",
        causes=(Cause("ValueError", text),) * 3,
    )
    return WorkflowNodeState(name, NodeStatus.FAILED, "fatal", record)


def test_the_state_of_two_thousand_failures_is_stored_and_read_as_it_was(session):
    from airflow.models.xcom import XComModel

    dag = SimulatedDag(Workflow("flow", (make_step("a"),)), session)
    run = dag.create_run("run-1")
    names = [f"step-{number:04}" for number in range(2_000)]
    nodes = {name: failed_node(name, "ä" * 10_000) for name in names}
    state = fitted(WorkflowState("failed", nodes, names[0], tuple(names), "ä" * 10_000))
    place = {"dag_id": run.dag_id, "task_id": "a", "run_id": "run-1"}
    XComModel.set(key=STATE, value=state.to_data(), **place, session=session)
    session.expire_all()
    stored = XComModel.get_many(key=STATE, dag_ids=run.dag_id, task_ids="a", run_id="run-1")
    [row] = session.scalars(stored)
    assert WorkflowState.from_data(XComModel.deserialize_value(row)) == state
