"""What the example ``call-back`` names; the demo puts this folder on the workers' path."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator

from mantle_provider import StepCallbacks, WorkflowContext, WorkflowListener

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider import WorkflowInstance, WorkflowNode, WorkflowState


class StageFiles(StepCallbacks, BaseOperator):
    """Stages a file in a folder of its own, which does not outlive a failed run."""

    def __init__(self, *, text: str, **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(**kwargs)
        self.text = text
        self.folder: str | None = None

    def execute(self, context: Context) -> dict[str, str]:
        """Note the folder before anything is in it, so that it is found however this ends."""
        self.folder = mkdtemp(prefix="staged-")
        WorkflowContext(context).properties["staged"] = self.folder
        Path(self.folder, "orders.csv").write_text(self.text, encoding="utf-8")
        return {"folder": self.folder}

    def on_finish(self, succeeded: bool) -> None:  # noqa: FBT001  # passed by keyword
        """Remove the files when the step itself failed."""
        if not succeeded and self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def on_workflow_finish(self, state: WorkflowState) -> None:
        """Remove the files when the workflow failed; another process may have made them."""
        if not state.is_succeeded and "staged" in state.properties:
            shutil.rmtree(state.properties["staged"], ignore_errors=True)


def report(context: WorkflowContext, state: WorkflowState) -> None:
    """Log how the run ended, and of each failed step why."""
    context.logger.info("run %s is %s", context.run_id, state.status)
    for name in state.failed_steps:
        node = state.nodes[name]
        cause = node.failure_cause
        context.logger.warning("%s failed: %s", name, cause.message if cause else node.reason)


class Journal(WorkflowListener):
    """Prints what happens, into the log of the task in which it happens."""

    def on_node_completed(
        self, instance: WorkflowInstance, node: WorkflowNode, output: Mapping[str, Any]
    ) -> None:
        """Print the step and the names of what it gave out."""
        print(f"{instance.workflow}: {node.id} gave out {sorted(output)}")  # noqa: T201  # to the log

    def on_workflow_failed(self, instance: WorkflowInstance, state: WorkflowState) -> None:
        """Print the first cause."""
        print(f"{instance.workflow} failed: {state.error}")  # noqa: T201  # to the log
