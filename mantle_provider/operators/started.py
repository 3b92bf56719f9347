"""The task that tells a workflow's listeners of a run's start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from mantle_provider.operators.listening import Listeners
from mantle_provider.operators.masking import mask_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


class WorkflowStartedOperator(BaseOperator):
    """Calls ``on_workflow_started``; no step depends on how it ends.

    :param mantle_workflow: what the plan says about the whole workflow.
    """

    def __init__(self, *, mantle_workflow: Mapping[str, Any], **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(**kwargs)
        self.mantle_workflow = mantle_workflow

    def execute(self, context: Context) -> None:
        """Tell every listener.

        :raises AirflowFailException: when one failed, so that it is seen.
        """
        mask_environment(self.mantle_workflow.get("env", {}))
        errors = Listeners(context, self.mantle_workflow).tell("on_workflow_started")
        if errors:
            raise AirflowFailException("; ".join(errors))
