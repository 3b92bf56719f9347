"""Telling a workflow's listeners what happens in a run."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from mantle_provider.operators.imports import import_name
from mantle_provider.operators.inputs import input_values
from mantle_provider.operators.run_reader import run_started_at
from mantle_provider.operators.user_code import contained
from mantle_provider.snapshots import WorkflowInstance, WorkflowNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


class Listeners:
    """The listeners of a workflow in one process.

    :param workflow: what the plan says about the whole workflow.
    """

    def __init__(self, context: Context, workflow: Mapping[str, Any]) -> None:
        self._context = context
        self._workflow = workflow
        self._loaded: dict[str, Any] = {}

    def entered(self, step: Mapping[str, Any], first_try: int) -> None:
        """Tell that a step runs, once for this run of it, however many attempts that takes.

        :param first_try: the try that began this run of the step.
        """
        if not self._workflow["listeners"]:
            return
        # The task state store outlives tries, and is written only when all have been told.
        store, key = self._context["task_state_store"], f"mantle_entered_{first_try}"
        if store.get(key) is None:
            self.tell("on_node_entered", workflow_node(step))
            store.set(key, value=True)

    def completed(self, step: Mapping[str, Any], output: Mapping[str, Any]) -> None:
        """Tell that a step has completed."""
        self.tell("on_node_completed", workflow_node(step), output)

    def tell(self, event: str, *details: Any) -> list[str]:  # noqa: ANN401  # what the event is about
        """Tell each listener, in the order of the file; return what went wrong, in words.

        :param event: a method of :class:`~mantle_provider.listeners.WorkflowListener`.
        """
        calls = {
            path: partial(self._tell_one, path, event, details)
            for path in self._workflow["listeners"]
        }
        name = self._context["ti"].dag_id
        told = {
            path: contained(call, f"{event} of listener {path}", workflow=name)
            for path, call in calls.items()
        }
        return [f"{event} of {path}: {error}" for path, error in told.items() if error]

    def _tell_one(self, path: str, event: str, details: tuple[Any, ...]) -> None:
        if path not in self._loaded:
            found = import_name(path)
            self._loaded[path] = found() if isinstance(found, type) else found
        method = getattr(self._loaded[path], event, None)
        if method is not None:
            method(self._instance, *details)

    @cached_property
    def _instance(self) -> WorkflowInstance:
        return workflow_instance(self._context, self._workflow)


def workflow_instance(context: Context, workflow: Mapping[str, Any]) -> WorkflowInstance:
    """Return the run that a task belongs to."""
    return WorkflowInstance(
        run_id=context["ti"].run_id,
        workflow=context["ti"].dag_id,
        version=workflow["version"],
        inputs=input_values(workflow["inputs"], context["dag_run"].conf),
        started_at=run_started_at(context),
    )


def workflow_node(step: Mapping[str, Any]) -> WorkflowNode:
    """Return a step as the plan describes it."""
    return WorkflowNode(step["name"], step["action"] or "switch", step["block"])
