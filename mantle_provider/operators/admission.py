"""The task that refuses a run above the limit, under ``on_limit: reject``."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from mantle_provider.lifecycle import ADMISSION, ERROR, REJECTED, ErrorRecord, Phase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context
    from airflow.sdk.types import RuntimeTaskInstanceProtocol

log = logging.getLogger(__name__)


_UNDECIDED = ("null", "scheduled", "queued", "running", "up_for_retry", "restarting")
"""States of an admission task that has not ended; ``null`` is the API's word for none."""


class WorkflowAdmissionOperator(BaseOperator):
    """Fails when as many runs are at work as the workflow allows, and so the run before any step.

    One run of the Dag is decided on at a time (``max_active_tis_per_dag`` is 1), and only admitted
    ones count: of runs that start together as many as allowed are admitted, never more.

    :param mantle_workflow: what the plan says about the whole workflow.
    """

    def __init__(self, *, mantle_workflow: Mapping[str, Any], **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(**kwargs)
        self.mantle_workflow = mantle_workflow

    def execute(self, context: Context) -> None:
        """Count the runs that are at work before this one.

        :raises AirflowFailException: when there are too many.
        """
        ti = context["ti"]
        limit = self.mantle_workflow["reject_above"]
        at_work = _runs_at_work(ti)
        if at_work < limit:
            log.info("admitted: %s of %s runs at work", at_work + 1, limit)
            return
        message = f"rejected: {at_work} runs are at work, and at most {limit} are allowed"
        record = ErrorRecord(
            phase=Phase.EDGE_CONDITION.value,
            step=ti.task_id,
            message=message,
            type=REJECTED,
            try_number=ti.try_number,
            at=datetime.now(timezone.utc).isoformat(),
        )
        ti.xcom_push(key=ERROR, value=record.to_data())
        raise AirflowFailException(message)


def _runs_at_work(ti: RuntimeTaskInstanceProtocol) -> int:
    """Return how many unfinished runs have been decided on.

    A refused one is among them until it has ended. Airflow tells the runs' number and the tasks'
    in two answers: they count when no run has started in between.
    """
    undecided = _undecided(ti)
    while True:
        # A queued run has its tasks already, so that both numbers must know of it.
        unfinished = ti.get_dr_count(dag_id=ti.dag_id, states=["queued", "running"])
        if (again := _undecided(ti)) == undecided:
            return unfinished - undecided
        undecided = again


def _undecided(ti: RuntimeTaskInstanceProtocol) -> int:
    return ti.get_ti_count(dag_id=ti.dag_id, task_ids=[ADMISSION], states=[*_UNDECIDED])
