"""An error handler that the examples name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider import ErrorResolution, WorkflowErrorHandler

if TYPE_CHECKING:
    from mantle_provider import NodeResult, WorkflowError, WorkflowInstance, WorkflowNode

MOST_ATTEMPTS = 3


class PatientHandler(WorkflowErrorHandler):
    """Tries again where a service is busy, and has a failed load repaired."""

    def handle_error(
        self,
        instance: WorkflowInstance,  # noqa: ARG002  # nothing of the run is needed
        node: WorkflowNode,
        result: NodeResult | None,
        error: WorkflowError,
    ) -> ErrorResolution:
        """Look at what the action says of its failure; let everything else fail."""
        output = result.output if result else {}
        if output.get("status") == 503 and node.attempt < MOST_ATTEMPTS:  # noqa: PLR2004  # HTTP's busy
            return ErrorResolution.retry(delay=1)
        if node.id == "load" and error.phase == "EXECUTION":
            return ErrorResolution.transition_to("repair")
        return ErrorResolution.fail()
