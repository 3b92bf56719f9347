"""The task of a Dag that stands for a broken workflow file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context


class InvalidWorkflowOperator(BaseOperator):
    """Fails with a workflow's diagnostics, so that its placeholder cannot run green."""

    def __init__(self, *, diagnostics: str, **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(**kwargs)
        self.diagnostics = diagnostics

    def execute(self, context: Context) -> NoReturn:  # noqa: ARG002  # nothing of the run is needed
        """Fail without a further attempt."""
        raise AirflowFailException(f"this workflow file is not valid:\n{self.diagnostics}")
