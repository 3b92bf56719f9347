"""The task that judges the main steps, and thereby decides which hooks run and the run's colour."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from mantle_provider.lifecycle import STATE, WorkflowGraph, WorkflowState, verdict
from mantle_provider.operators.events import execution_ended
from mantle_provider.operators.run_reader import JUDGED_AT, RunReader, run_started_at
from mantle_provider.workflow.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

log = logging.getLogger(__name__)


class WorkflowOutcomeOperator(BaseOperator):
    """Judges the main steps from their states and pushes the :class:`WorkflowState`.

    It succeeds when the workflow completed and fails when it failed or timed out. Its verdict is
    final and not retried; what is the infrastructure's fault, an unreachable API server for
    example, is retried as any task's failure.

    :param mantle_workflow: what the plan says about the whole workflow.
    """

    def __init__(self, *, mantle_workflow: Mapping[str, Any], **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(**kwargs)
        self.mantle_workflow = mantle_workflow

    def execute(self, context: Context) -> None:
        """Push the state as XCom ``mantle_workflow_state``.

        :raises AirflowFailException: when the workflow did not complete.
        """
        ti = context["ti"]
        reader = RunReader(ti, WorkflowGraph.from_data(self.mantle_workflow["graph"]))
        if stale := reader.ended_hooks():
            log.warning(
                "These hooks are of an earlier verdict and do not run again: %s. Clear the step "
                "with Downstream and without Only Failed to have them run",
                stale,
            )
        state = self._judge(context, reader)
        judged_at = time.time()
        ti.xcom_push(key=JUDGED_AT, value=judged_at)
        ti.xcom_push(key=STATE, value=state.to_data())
        execution_ended(ti.dag_id, ti.run_id, state, judged_at - run_started_at(context))
        for name, node in state.nodes.items():
            note = node.failure_cause.message if node.failure_cause else node.reason
            log.info("step %s: %s%s", name, node.status.value, f" ({note})" if note else "")
        if not state.is_succeeded:
            where = f' at step "{state.failed_step}"' if state.failed_step else ""
            raise AirflowFailException(f"workflow {state.status}{where}: {state.error}")
        if state.failed_steps:
            log.warning("completed although these steps failed: %s", list(state.failed_steps))
        log.info("workflow completed")

    def _judge(self, context: Context, reader: RunReader) -> WorkflowState:
        states = reader.step_states()
        rejection = reader.rejection() if self.mantle_workflow["reject_above"] else None
        timeout = self.mantle_workflow["timeout_seconds"]
        state = verdict(
            reader.graph,
            states,
            reader.records(states),
            routes=reader.routes(),
            ended_at=reader.ended_at() if "failed" in states.values() else {},
            deadline=None if timeout is None else run_started_at(context) + timeout,
            timeout_text=None if timeout is None else format_duration(timedelta(seconds=timeout)),
        )
        # No step has run, which the states alone would call a step that did not run.
        return replace(state, error=rejection) if rejection else state
