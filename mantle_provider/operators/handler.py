"""Asks the workflow's error handler, a class of the user's, what is to follow a failed attempt."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ActionError, WorkflowError, text_of
from mantle_provider.handlers import ErrorResolution, WorkflowErrorHandler
from mantle_provider.lifecycle import FAIL, RETRY, TRANSITION, Phase
from mantle_provider.operators.failures import FAILURES
from mantle_provider.operators.imports import import_name
from mantle_provider.operators.listening import workflow_instance, workflow_node
from mantle_provider.snapshots import NodeResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider.lifecycle import WorkflowGraph
    from mantle_provider.operators.entry import Entry
    from mantle_provider.snapshots import WorkflowInstance, WorkflowNode


class MalformedAnswer(Exception):  # noqa: N818  # not an error of a run by itself; see .error
    """The handler failed itself, or gave no answer that means anything.

    :param error: what the step fails with; it suppresses the failure that was asked about.
    """

    def __init__(self, error: WorkflowError) -> None:
        super().__init__(error.message)
        self.error = error


class HandlerCall:
    """Asks the handler about one step.

    :param handler: the plan's ``error_handler``: ``class_path`` and ``targets``.
    """

    def __init__(
        self,
        handler: Mapping[str, Any],
        graph: WorkflowGraph,
        instance: WorkflowInstance,
        node: WorkflowNode,
    ) -> None:
        self._class_path = handler["class_path"]
        self._targets = handler["targets"]
        self._graph = graph
        self._instance = instance
        self._node = node

    def ask(self, error: WorkflowError, output: Mapping[str, Any] | None) -> ErrorResolution:
        """Return what the handler answers, once it is known to mean something.

        :param output: what the action had produced, when it said itself that it failed.
        :raises MalformedAnswer: with both failures. The handler is not asked about its own.
        """
        result = None
        if isinstance(error.__cause__, ActionError) and error.phase == Phase.EXECUTION.value:
            result = NodeResult(output or {})
        try:
            handler = self._handler()
            answer = handler.handle_error(self._instance, self._node, result, error)
        except FAILURES as thrown:
            problem = f"the error handler failed: {type(thrown).__name__}: {text_of(thrown)}"
            raise MalformedAnswer(_malformed(problem, error, thrown)) from thrown
        problem = self._problem(answer)
        if problem:
            raise MalformedAnswer(_malformed(f"the error handler {problem}", error))
        return answer

    def _handler(self) -> WorkflowErrorHandler:
        handler_class: object = import_name(self._class_path)
        if isinstance(handler_class, type) and issubclass(handler_class, WorkflowErrorHandler):
            return handler_class()
        raise TypeError(f'"{self._class_path}" is no subclass of WorkflowErrorHandler')

    def _problem(self, answer: Any) -> str:  # noqa: ANN401  # whatever the user's class returns
        """Return what is wrong with an answer; empty when nothing is."""
        if not isinstance(answer, ErrorResolution):
            return f"answered with a {type(answer).__name__}, not with an ErrorResolution"
        if answer.action not in (FAIL, RETRY, TRANSITION):
            return f"answered with the unknown action {answer.action!r}"
        if answer.action == TRANSITION:
            return self._target_problem(answer.target)
        if answer.target is not None:
            return f"answered {answer.action} with a target, which only a transition has"
        delay: object = answer.delay
        is_delay = delay is None or (isinstance(delay, timedelta) and delay >= timedelta())
        return "" if is_delay else f"answered with the delay {delay!r}"

    def _target_problem(self, target: object) -> str:
        if not isinstance(target, str) or not target.strip():
            return f"answered with a transition to {target!r}, which names no step"
        if self._node.block != "steps":
            return f'went to "{target}", but a hook cannot be recovered by another step'
        if target not in self._graph.by_name:
            return f'went to "{target}", but no main step of this name was found'
        if target not in self._graph.by_name[self._node.id].transitions:
            if target in self._targets:
                return (
                    f'went to "{target}", but step "{self._node.id}" has no way there: "{target}" '
                    "is it or runs before it, or the step is one of `before_start`"
                )
            return f'went to "{target}", which is not one of its "targets"'
        return ""


def handler_call(
    context: Context,
    graph: WorkflowGraph,
    step: Mapping[str, Any],
    workflow: Mapping[str, Any],
    entry: Entry,
) -> HandlerCall | None:
    """Return what asks the workflow's handler, if it has one, about one attempt of a step."""
    handler = workflow["error_handler"]
    if handler is None:
        return None
    instance = workflow_instance(context, workflow)
    node = replace(workflow_node(step), attempt=entry.attempt)
    return HandlerCall(handler, graph, instance, node)


def _malformed(
    problem: str, error: WorkflowError, thrown: BaseException | None = None
) -> WorkflowError:
    malformed = WorkflowError(
        f"{problem}; it was asked about: {error.diagnostic()}",
        phase=Phase.ERROR_HANDLER.value,
        node_id=error.node_id,
        edge_id=error.edge_id,
        field=error.field,
        expression=error.expression,
        retryable=False,
    )
    malformed.__cause__ = thrown
    malformed.suppressed = error
    return malformed
