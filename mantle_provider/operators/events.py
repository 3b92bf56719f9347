"""What a run tells the outside: one log line and one metric for each end of a step.

Metrics go through Airflow's own, so that they come out where Airflow's do, as StatsD, DogStatsD
or OpenTelemetry. The names are Mantle's, listed in ``docs/reference/metrics.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import structlog
from airflow.sdk.observability import stats

from mantle_provider.lifecycle import NodeStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mantle_provider.lifecycle import WorkflowState

log = structlog.get_logger("mantle")

_MAIN = "steps"


@dataclass(frozen=True, slots=True)
class StepEvents:
    """Tells of one step; ``block`` is ``steps`` or the hook block."""

    workflow: str
    run_id: str
    block: str
    step: str

    @classmethod
    def of(cls, ti: Any, step: Mapping[str, Any]) -> StepEvents:  # noqa: ANN401  # Airflow's task instance
        """Return what tells of the step that a task process runs."""
        return cls(ti.dag_id, ti.run_id, step["block"], step["name"])

    def started(self, attempt: int) -> None:
        """Tell that an attempt has begun."""
        self._log("started", status="running", attempt=attempt)

    def ended(self, status: str, seconds: float | None = None, error: str | None = None) -> None:
        """Tell how the step ended, after its last attempt.

        :param status: a :class:`NodeStatus` in lower case.
        :param seconds: how long its last attempt took.
        """
        self._log(status, status=status, **({} if error is None else {"error": error}))
        count_step(self.workflow, self.block, self.step, status)
        if seconds is not None and self.block == _MAIN:
            tags = {"workflow": self.workflow, "step": self.step}
            stats.timing("mantle_step_duration", timedelta(seconds=seconds), tags=tags)

    def _log(self, verb: str, **fields: Any) -> None:  # noqa: ANN401  # JSON values
        event = f"step.{verb}" if self.block == _MAIN else f"hook.step.{verb}"
        log.info(
            event,
            workflow=self.workflow,
            run=self.run_id,
            block=self.block,
            step=self.step,
            **fields,
        )


def count_step(workflow: str, block: str, step: str, status: str) -> None:
    """Count one end of a main step or a hook step."""
    if block == _MAIN:
        tags = {"workflow": workflow, "step": step, "status": status}
        stats.incr("mantle_steps_total", tags=tags)
        return
    hook = {"workflow": workflow, "hook": block, "step": step}
    stats.incr("mantle_hook_steps_total", tags={**hook, "status": status})
    if status == "failed":
        stats.incr("mantle_hook_steps_failed_total", tags=hook)


def execution_ended(workflow: str, run_id: str, state: WorkflowState, seconds: float) -> None:
    """Tell how the main steps ended, and count those that could not tell it themselves.

    A step that was killed has left no word, and one that was cancelled by Airflow never had a
    process.

    :param seconds: from the run's start to its outcome.
    """
    log.info("workflow.ended", workflow=workflow, run=run_id, status=state.status)
    stats.incr("mantle_executions_total", tags={"workflow": workflow, "status": state.status})
    duration = timedelta(seconds=seconds)
    stats.timing("mantle_execution_duration", duration, tags={"workflow": workflow})
    for name, node in state.nodes.items():
        is_silent = node.failure_cause is None
        if is_silent and node.status in {NodeStatus.KILLED, NodeStatus.CANCELLED}:
            count_step(workflow, _MAIN, name, node.status.value.lower())
