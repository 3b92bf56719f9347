"""The task that refuses a run above the limit, under ``on_limit: reject``."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from mantle_provider.lifecycle import REJECTED, ErrorRecord, Phase
from mantle_provider.operators.run_reader import ERROR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


class WorkflowAdmissionOperator(BaseOperator):
    """Fails when more runs are at work than the workflow allows, and so the run before any step.

    Runs that start at the same moment may each see the others and all be refused; there are
    never more at work than allowed (AIRFLOW 22n).

    :param mantle_workflow: what the plan says about the whole workflow.
    """

    def __init__(self, *, mantle_workflow: Mapping[str, Any], **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(**kwargs)
        self.mantle_workflow = mantle_workflow

    def execute(self, context: Context) -> None:
        """Count the runs that are at work, this one included.

        :raises AirflowFailException: when there are too many.
        """
        ti = context["ti"]
        limit = self.mantle_workflow["reject_above"]
        running = ti.get_dr_count(dag_id=ti.dag_id, states=["running"])
        if running <= limit:
            self.log.info("admitted: %s of %s runs at work", running, limit)
            return
        message = f"rejected: {running - 1} runs are at work, and at most {limit} are allowed"
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
