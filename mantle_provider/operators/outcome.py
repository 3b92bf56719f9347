"""The task that judges the main steps, and thereby decides which hooks run and the run's colour."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from mantle_provider.lifecycle import (
    STATE,
    WorkflowGraph,
    tell_failures,
    tell_rest,
    tell_verdict,
)
from mantle_provider.lifecycle.fitting import fitted
from mantle_provider.operators.events import execution_ended
from mantle_provider.operators.finish import finish_dead_steps
from mantle_provider.operators.judgement import (
    has_callback,
    judge_run,
    with_properties,
    with_run_ids,
)
from mantle_provider.operators.masking import mask_environment
from mantle_provider.operators.run_reader import JUDGED_AT, RunReader, run_started_at
from mantle_provider.operators.versions import version_change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider.lifecycle import WorkflowState

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
        mask_environment(self.mantle_workflow.get("env", {}))
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
        ti.xcom_push(key=STATE, value=fitted(state).to_data())
        execution_ended(ti.dag_id, ti.run_id, state, judged_at - run_started_at(context))
        change = version_change(state.started_version, self.mantle_workflow["version"])
        if change:
            log.warning("%s", change)
        # What is wrong stands out, also where the workflow completed in spite of it.
        level = logging.INFO if state.is_succeeded else logging.ERROR
        log.log(level, "%s", tell_verdict(state))
        for line in tell_failures(state):
            log.warning("%s", line)
        for line in tell_rest(state):
            log.info("%s", line)
        finish_dead_steps(context, reader, state)
        if not state.is_succeeded:
            raise AirflowFailException(tell_verdict(state))

    def _judge(self, context: Context, reader: RunReader) -> WorkflowState:
        """Judge the main steps, and add what somebody who is called later wants to know."""
        state = judge_run(context, reader, self.mantle_workflow)
        state = with_run_ids(state, self.dag, reader)
        # Notes cost a call for each step that can have left some.
        return with_properties(state, self.dag, reader) if has_callback(self.dag) else state
