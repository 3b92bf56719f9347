"""What the example ``call-back`` names; the demo puts this folder on the workers' path."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from mantle_provider import WorkflowListener

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mantle_provider import (
        WorkflowContext,
        WorkflowInstance,
        WorkflowNode,
        WorkflowState,
    )

log = logging.getLogger(__name__)


def note_stock(context: WorkflowContext) -> int:
    """Note for everybody after this step how many pieces there are, and return it."""
    pieces = int(context.outputs["check-stock"]["json"]["pieces"])
    context.properties["pieces"] = pieces
    return pieces


def report(context: WorkflowContext, state: WorkflowState) -> None:
    """Log how the run ended, and of each failed step why."""
    pieces = state.properties.get("pieces", "unknown")
    context.logger.info("run %s is %s, pieces: %s", context.run_id, state.status, pieces)
    for name in state.failed_steps:
        node = state.nodes[name]
        cause = node.failure_cause
        context.logger.warning("%s failed: %s", name, cause.message if cause else node.reason)


class Journal(WorkflowListener):
    """Logs what happens, in the task in which it happens."""

    def on_node_completed(
        self, instance: WorkflowInstance, node: WorkflowNode, output: Mapping[str, Any]
    ) -> None:
        """Log the step and the names of what it gave out."""
        log.info("%s: %s gave out %s", instance.workflow, node.id, sorted(output))

    def on_workflow_failed(self, instance: WorkflowInstance, state: WorkflowState) -> None:
        """Log the first cause."""
        log.info("%s failed: %s", instance.workflow, state.error)
