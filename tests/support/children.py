"""A supervisor that starts runs of other Dags, and a parent run whose steps ask it.

Stands in for the supervisor alone: messages and answers are Airflow's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
from airflow.sdk.execution_time.comms import (
    DagResult,
    DagRunStateResult,
    ErrorResponse,
    GetDag,
    GetDagRunState,
    GetTaskStates,
    OKResponse,
    TaskStatesResult,
    TriggerDagRun,
)
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

from support.runs import FakeRun, FakeTaskInstance

SUPERVISOR = "airflow.sdk.execution_time.task_runner.SUPERVISOR_COMMS"


def api_error(status, reason=None, message="no"):
    """Return the error that the supervisor makes of an answer of the API server."""
    detail = {"detail": {"reason": reason, "message": message}}
    return AirflowRuntimeError(
        ErrorResponse(
            error=ErrorType.API_SERVER_ERROR,
            detail={"status_code": status, "message": "Server returned error", "detail": detail},
        )
    )


@dataclass
class FakeSupervisor:
    """Knows Dags by their ids, and one child run, whose tasks and XComs a :class:`FakeRun` has."""

    paused: dict[str, bool] = field(default_factory=dict)
    child: FakeRun | None = None
    run_states: list[Any] = field(default_factory=list)
    refusal: AirflowRuntimeError | None = None
    started: dict[str, TriggerDagRun] = field(default_factory=dict)
    asked: int = 0

    def send(self, msg):
        match msg:
            case GetDag():
                return self._dag(msg.dag_id)
            case TriggerDagRun():
                return self._start(msg)
            case GetDagRunState():
                return self._run_state()
            case GetTaskStates():
                return TaskStatesResult(task_states={msg.run_ids[0]: dict(self.child.states)})

    def _dag(self, dag_id):
        if dag_id not in self.paused:
            raise api_error(404, "not_found")
        names = ("bundle_name", "bundle_version", "relative_fileloc", "owners", "next_dagrun")
        unknown = dict.fromkeys(names)
        return DagResult(dag_id=dag_id, is_paused=self.paused[dag_id], tags=[], **unknown)

    def _start(self, msg):
        if self.refusal is not None:
            raise self.refusal
        if msg.run_id in self.started:
            return ErrorResponse(error=ErrorType.DAGRUN_ALREADY_EXISTS)
        self.started[msg.run_id] = msg
        return OKResponse(ok=True)

    def _run_state(self):
        self.asked += 1
        state = self.run_states.pop(0)
        if isinstance(state, Exception):
            raise state
        return DagRunStateResult(state=state)


class ParentTaskInstance(FakeTaskInstance):
    """A task instance that also reads other runs than its own."""

    get_dag = staticmethod(RuntimeTaskInstance.get_dag)

    def get_task_states(self, *, dag_id, run_ids):
        if dag_id == self.dag_id:
            return super().get_task_states(dag_id=dag_id, run_ids=run_ids)
        return RuntimeTaskInstance.get_task_states(dag_id=dag_id, run_ids=run_ids)

    def xcom_pull(self, *, task_ids, key, dag_id=None, run_id=None, map_indexes=None):
        if dag_id is None:
            return super().xcom_pull(task_ids=task_ids, key=key)
        assert map_indexes == -1
        return self.fake_run.supervisor.child.xcoms.get((task_ids, key))


@dataclass
class ParentRun(FakeRun):
    """A run whose steps start other runs."""

    supervisor: FakeSupervisor = field(default_factory=FakeSupervisor)

    def enter(self, task_id, *, try_number=1, earlier_tries=0):
        task = super().enter(task_id, try_number=try_number, earlier_tries=earlier_tries)
        self.context["ti"] = ParentTaskInstance(self, task_id, try_number, task.retries)
        return task
