"""How a class of the user's answers failed attempts: its base, and the answers it can give.

Imports nothing from Airflow, so that a handler can be tested without it. When a handler is asked,
and what each answer does, stands in ``docs/reference/errors.md``; the words are Apitomy Flow's.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from mantle_provider.lifecycle import FAIL, RETRY, TRANSITION, Phase

if TYPE_CHECKING:
    from mantle_provider.errors import WorkflowError
    from mantle_provider.snapshots import NodeResult, WorkflowInstance, WorkflowNode

_CAUSE_PHASES = frozenset(
    phase.value for phase in (Phase.EXECUTION, Phase.EDGE_CONDITION, Phase.OUTPUT_MAPPING)
)


@dataclass(frozen=True, slots=True)
class ErrorResolution:
    """What is to happen after a failed attempt; made by one of the three class methods.

    :param action: ``fail``, ``retry`` or ``transition``.
    :param target: the step that a transition goes to.
    :param delay: time before the next attempt, ``None`` for that of the step's ``retry``, and one
        second without it.
    """

    action: str
    target: str | None = None
    delay: timedelta | None = None

    @classmethod
    def fail(cls) -> ErrorResolution:
        """Let the step fail without a further attempt."""
        return cls(FAIL)

    @classmethod
    def retry(cls, delay: timedelta | float | None = None) -> ErrorResolution:
        """Repeat the attempt, beginning with its parameters.

        :param delay: as ``timedelta`` or in seconds.
        """
        if isinstance(delay, int | float):
            delay = timedelta(seconds=delay)
        return cls(RETRY, delay=delay)

    @classmethod
    def transition_to(cls, target: str) -> ErrorResolution:
        """Let the step fail, and another one recover from that.

        :param target: one of the handler's ``targets`` that does not run before the failed step.
        """
        return cls(TRANSITION, target)


class WorkflowErrorHandler:
    """Answers every failed attempt that no ``on_error`` rule and no ``retry`` has answered.

    Made anew for each failure, without arguments, in the process of the step that failed. As it
    stands, every step fails. Override :meth:`handle_error` to see all failures in one form, or
    one or both of the two other methods, which Apitomy Flow had first.
    """

    def handle_error(
        self,
        instance: WorkflowInstance,
        node: WorkflowNode,
        result: NodeResult | None,
        error: WorkflowError,
    ) -> ErrorResolution:
        """Return what is to happen.

        :param instance: the run.
        :param node: the step or hook that failed.
        :param result: what the action had produced when it said itself that it failed, by an
            :class:`~mantle_provider.errors.ActionError`; ``None`` for every other failure.
        :param error: the failure, with its phase and place; ``__cause__`` is the exception that
            the action threw, the very object.
        """
        if error.phase == Phase.EDGE_SELECTION.value:
            return self.handle_no_matching_edge(instance, node)
        if result is not None:
            return self.handle_node_error(instance, node, result, None)
        thrown = error.__cause__ if error.phase in _CAUSE_PHASES else None
        return self.handle_node_error(instance, node, None, thrown or error)

    def handle_node_error(
        self,
        instance: WorkflowInstance,  # noqa: ARG002  # for those who override it
        node: WorkflowNode,  # noqa: ARG002
        result: NodeResult | None,  # noqa: ARG002
        exception: BaseException | None,  # noqa: ARG002
    ) -> ErrorResolution:
        """Return what is to happen after any failure but that of a router without a way out.

        :param result: as for :meth:`handle_error`; then ``exception`` is ``None``.
        :param exception: what the action threw; for a condition or an output expression that
            could not be evaluated what that threw; else the
            :class:`~mantle_provider.errors.WorkflowError` itself.
        """
        return ErrorResolution.fail()

    def handle_no_matching_edge(
        self,
        instance: WorkflowInstance,  # noqa: ARG002  # for those who override it
        node: WorkflowNode,  # noqa: ARG002
    ) -> ErrorResolution:
        """Return what is to happen when no case of a router step holds."""
        return ErrorResolution.fail()
