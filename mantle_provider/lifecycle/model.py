"""What is known about a run and its steps, as frozen types that travel as plain JSON data.

The words are CDAP's (``WorkflowState``, ``NodeStatus``) with Apitomy Flow's phases.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

WorkflowStatus: TypeAlias = Literal["completed", "failed", "timed_out"]

Effect: TypeAlias = Literal["fatal", "tolerated"]
"""What a step's final failure does to the run."""

OUTCOME = "workflow_outcome"
"""Id of the task that judges the main steps."""

ADMISSION = "workflow_admission"
"""Id of the task that refuses a run above the limit, under ``on_limit: reject``."""

WORKFLOW_TIMEOUT = "WorkflowTimeout"
"""``ErrorRecord.type`` of a step that the workflow's deadline stopped or kept from starting."""

STEP_TIMEOUT = "StepTimeout"
"""``ErrorRecord.type`` of an attempt that ran out of the step's own ``timeout``."""

HOOKS_TIMEOUT = "HooksTimeout"
"""``ErrorRecord.type`` of a hook step that ``hooks.timeout`` stopped or kept from starting."""

FAIL_FAST = "FailFast"
"""``ErrorRecord.type`` of a step that another one's failure stopped or kept from starting."""

REJECTED = "Rejected"
"""``ErrorRecord.type`` of a run above the limit, and of a hook that such a run does not have."""

CONDITION = "condition"
"""``ErrorRecord.type`` of a step that its ``if`` skipped."""

ACTION_SKIP = "action"
"""``ErrorRecord.type`` of a step that its own action skipped."""

DEPENDENCY = "dependency"
"""``ErrorRecord.type`` of a step that was cancelled because of how a step before it ended."""


EXECUTION_FIELDS = ("id", "workflow_name", "workflow_version", "started_at")
"""Fields of ``execution`` that every step may read (LANGUAGE, "Values in expressions")."""

EXECUTION_END_FIELDS = (
    "status",
    "duration_ms",
    "error",
    "failed_step",
    "failed_in",
    "failed_steps",
    "failed_hooks",
)
"""Fields of ``execution`` that hooks alone may read, since they are known at the end."""


class Phase(str, Enum):
    """The part of an attempt that failed (DESIGN 4)."""

    EDGE_CONDITION = "EDGE_CONDITION"
    INPUT_RESOLUTION = "INPUT_RESOLUTION"
    EXECUTOR_LOOKUP = "EXECUTOR_LOOKUP"
    EXECUTION = "EXECUTION"
    RESULT_VALIDATION = "RESULT_VALIDATION"


class NodeStatus(str, Enum):
    """How a main step ended."""

    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    KILLED = "KILLED"
    SKIPPED = "SKIPPED"
    CANCELLED = "CANCELLED"
    NOT_RUN = "NOT_RUN"


@dataclass(frozen=True, slots=True)
class Cause:
    """One exception of a chain, flattened."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """Why an attempt failed: the one stored form of a run-time failure.

    :param phase: a :class:`Phase` value.
    :param type: the exception's class name, or one of this module's ``*_TIMEOUT`` names.
    :param causes: the chain below the exception, nearest first.
    :param try_number: counts from 1.
    :param at: RFC 3339, UTC.
    :param resolution: what the failure was answered with, ``retry`` or ``fail``.
    """

    phase: str
    step: str
    message: str
    type: str
    try_number: int
    at: str
    edge: str | None = None
    field: str | None = None
    expression: str | None = None
    causes: tuple[Cause, ...] = ()
    resolution: str | None = None

    def to_data(self) -> dict[str, Any]:
        """Return the record as JSON data."""
        return {**asdict(self), "causes": [asdict(cause) for cause in self.causes]}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> ErrorRecord:
        """Read what :meth:`to_data` wrote."""
        causes = tuple(Cause(**cause) for cause in data.get("causes", ()))
        return cls(**{**data, "causes": causes})


@dataclass(frozen=True, slots=True)
class GraphNode:
    """What the lifecycle needs to know about a main step.

    :param dependencies: steps by ``depends_on`` and references.
    :param after: the step above, under ``order: listed``; an edge that only orders.
    """

    name: str
    dependencies: tuple[str, ...] = ()
    continue_on_error: bool = False
    after: str | None = None


@dataclass(frozen=True, slots=True)
class WorkflowGraph:
    """The main steps of a workflow in the order of the file."""

    nodes: tuple[GraphNode, ...]

    def to_data(self) -> list[dict[str, Any]]:
        """Return the graph as JSON data, one map per node."""
        return [
            {
                "name": node.name,
                "dependencies": list(node.dependencies),
                "continue_on_error": node.continue_on_error,
                "after": node.after,
            }
            for node in self.nodes
        ]

    @classmethod
    def from_data(cls, data: list[dict[str, Any]]) -> WorkflowGraph:
        """Read what :meth:`to_data` wrote."""
        return cls(
            tuple(
                GraphNode(**{**node, "dependencies": tuple(node["dependencies"])}) for node in data
            )
        )


@dataclass(frozen=True, slots=True)
class WorkflowNodeState:
    """How one main step ended.

    :param effect: ``None`` unless the step failed.
    :param failure_cause: ``None`` unless the step failed and left a record.
    :param reason: why the step was killed, skipped, cancelled or not run, in words.
    :param ended_at: seconds since the epoch, ``None`` where unknown.
    """

    node_id: str
    status: NodeStatus
    effect: Effect | None = None
    failure_cause: ErrorRecord | None = None
    reason: str | None = None
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """How a run's main steps ended; hooks never change it.

    :param nodes: step name -> its state, in the order of the file.
    :param failed_step: the first fatal failure (for ``timed_out`` the step cut first), or ``None``.
    :param failed_steps: every failed step, first cause first.
    :param error: the first cause in words, or ``None``.
    """

    status: WorkflowStatus
    nodes: Mapping[str, WorkflowNodeState] = field(default_factory=dict)
    failed_step: str | None = None
    failed_steps: tuple[str, ...] = ()
    error: str | None = None

    @property
    def is_succeeded(self) -> bool:
        """Whether the workflow completed."""
        return self.status == "completed"

    def to_data(self) -> dict[str, Any]:
        """Return the state as JSON data."""
        return {
            "status": self.status,
            "failed_step": self.failed_step,
            "failed_steps": list(self.failed_steps),
            "error": self.error,
            "nodes": {
                name: {
                    "status": node.status.value,
                    "effect": node.effect,
                    "failure_cause": node.failure_cause and node.failure_cause.to_data(),
                    "reason": node.reason,
                    "ended_at": node.ended_at,
                }
                for name, node in self.nodes.items()
            },
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> WorkflowState:
        """Read what :meth:`to_data` wrote."""
        nodes = {
            name: WorkflowNodeState(
                node_id=name,
                status=NodeStatus(node["status"]),
                effect=node["effect"],
                failure_cause=node["failure_cause"]
                and ErrorRecord.from_data(node["failure_cause"]),
                reason=node["reason"],
                ended_at=node["ended_at"],
            )
            for name, node in data["nodes"].items()
        }
        return cls(
            status=data["status"],
            nodes=nodes,
            failed_step=data["failed_step"],
            failed_steps=tuple(data["failed_steps"]),
            error=data["error"],
        )
