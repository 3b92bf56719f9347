"""What a listener hears of a run. Imports nothing from Airflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mantle_provider.lifecycle import WorkflowState
    from mantle_provider.snapshots import WorkflowInstance, WorkflowNode


class WorkflowListener:
    """Base of the classes that a workflow names under ``listeners``; each method does nothing.

    An instance lives as long as the task that tells it, so that it keeps nothing from one call to
    the next. What a method raises is logged; the listeners after it are told nevertheless, and
    the run does not change. Each is told at least once.

    Five of Apitomy Flow's seven callbacks: no task runs when an edge is followed, nor when a user
    cancels a run.
    """

    def on_workflow_started(self, instance: WorkflowInstance) -> None:
        """Hear that a run has started, before its first step."""

    def on_node_entered(self, instance: WorkflowInstance, node: WorkflowNode) -> None:
        """Hear that a step runs, once its condition holds; not again for a further attempt."""

    def on_node_completed(
        self, instance: WorkflowInstance, node: WorkflowNode, output: Mapping[str, Any]
    ) -> None:
        """Hear that a step has completed; one that failed or was skipped is not told."""

    def on_workflow_completed(self, instance: WorkflowInstance, state: WorkflowState) -> None:
        """Hear that the workflow completed, after its hooks."""

    def on_workflow_failed(self, instance: WorkflowInstance, state: WorkflowState) -> None:
        """Hear that the workflow failed or timed out, after its hooks.

        :param state: ``error`` is the first cause in words; ``nodes`` has each step's own.
        """
