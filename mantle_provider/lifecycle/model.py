"""What is known about a run and its steps, as frozen types that travel as plain JSON data.

The words are CDAP's (``WorkflowState``, ``NodeStatus``) with Apitomy Flow's phases.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mantle_provider.errors import ResultNotCompletedError

if TYPE_CHECKING:
    from collections.abc import Mapping

WorkflowStatus: TypeAlias = Literal["completed", "failed", "timed_out", "running"]
"""``running`` is never judged: it is what :func:`mantle_provider.current_state` says before."""

Effect: TypeAlias = Literal["fatal", "tolerated", "contained", "recovered"]
"""What a step's final failure does to the run (LANGUAGE, "Failure keys", rows 7 to 10)."""

RETRY = "retry"
FAIL = "fail"
TRANSITION = "transition"
"""``ErrorRecord.resolution``: what a failed attempt was answered with."""

OUTCOME = "workflow_outcome"
"""Id of the task that judges the main steps."""

ADMISSION = "workflow_admission"
"""Id of the task that refuses a run above the limit, under ``on_limit: reject``."""

STARTED = "workflow_started"
"""Id of the task that tells the listeners that a run has started."""

CALLBACK = "callback_on_finish"
"""Id of the task that calls the workflow's ``callbacks.on_finish`` and its listeners at the end."""

MAX_HANDLER_RETRIES = 10
"""How often an error handler may ask for another attempt of one run of a step, as in Apitomy."""

OUTPUT = "return_value"
"""XCom: the output of a step that succeeded."""

ERROR = "mantle_error"
"""XCom: the :class:`ErrorRecord` of an attempt that failed, or of a step that skipped itself."""

STATE = "mantle_workflow_state"
"""XCom of the outcome: the :class:`WorkflowState`."""

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

NOT_TAKEN = "not_taken"
"""``ErrorRecord.type`` of a recovery target or switch case that no step went to."""


ENDED_STATES = frozenset({"success", "failed", "skipped", "upstream_failed", "removed"})
"""States of Airflow's tasks that do not change by themselves any more."""

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


ERROR_FIELDS = (
    "phase",
    "step",
    "edge",
    "field",
    "expression",
    "message",
    "type",
    "causes",
    "try_number",
)
"""Fields of ``error``, which rules of ``on_error`` read: those of the :class:`ErrorRecord` that
are known before it is answered."""

FAILURE_FIELDS = ("name", "status", "effect", "error", "type", "phase", "at")
"""Fields of ``steps['name'].failure``."""


class Phase(str, Enum):
    """The part of an attempt that failed (DESIGN 4)."""

    EDGE_CONDITION = "EDGE_CONDITION"
    INPUT_RESOLUTION = "INPUT_RESOLUTION"
    EXECUTOR_LOOKUP = "EXECUTOR_LOOKUP"
    EXECUTION = "EXECUTION"
    RESULT_VALIDATION = "RESULT_VALIDATION"
    OUTPUT_VALIDATION = "OUTPUT_VALIDATION"
    OUTPUT_MAPPING = "OUTPUT_MAPPING"
    EDGE_SELECTION = "EDGE_SELECTION"
    ERROR_HANDLER = "ERROR_HANDLER"


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
    :param resolution: what the failure was answered with: :data:`RETRY`, :data:`FAIL` or
        :data:`TRANSITION`.
    :param target: the step that a transition goes to.
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
    target: str | None = None

    def to_data(self) -> dict[str, Any]:
        """Return the record as JSON data."""
        return {**asdict(self), "causes": [asdict(cause) for cause in self.causes]}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> ErrorRecord:
        """Read what :meth:`to_data` wrote."""
        causes = tuple(Cause(**cause) for cause in data.get("causes", ()))
        return cls(**{**data, "causes": causes})


FailureCause: TypeAlias = ErrorRecord
"""What :attr:`WorkflowNodeState.failure_cause` is, under CDAP's name."""


@dataclass(frozen=True, slots=True)
class WorkflowNodeState:
    """How one main step ended.

    :param effect: ``None`` unless the step failed.
    :param failure_cause: ``None`` unless the step failed and left a record.
    :param reason: why the step was killed, skipped, cancelled or not run, in words.
    :param ended_at: seconds since the epoch, ``None`` where unknown.
    :param cancelled_by: the step because of which it was cancelled, where it was not the deadline.
    :param run_id: the run that a ``workflow/run`` step started, ``None`` for other actions.
    """

    node_id: str
    status: NodeStatus
    effect: Effect | None = None
    failure_cause: ErrorRecord | None = None
    reason: str | None = None
    ended_at: float | None = None
    cancelled_by: str | None = None
    run_id: str | None = None

    def to_data(self) -> dict[str, Any]:
        """Return the state as JSON data, without the name, under which a workflow's holds it."""
        return {
            "status": self.status.value,
            "effect": self.effect,
            "failure_cause": self.failure_cause and self.failure_cause.to_data(),
            "reason": self.reason,
            "ended_at": self.ended_at,
            "cancelled_by": self.cancelled_by,
            "run_id": self.run_id,
        }


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """How a run's main steps ended; hooks never change it.

    :param nodes: step name -> its state, in the order of the file.
    :param failed_step: the first fatal failure (for ``timed_out`` the step cut first), or ``None``.
    :param failed_steps: every failed step, first cause first.
    :param error: the first cause in words, or ``None``.
    :param version: ``def_version`` of the code that judged.
    :param started_version: ``def_version`` of the code that the run started under, ``None`` where
        unknown.
    :param result_step: the step named by the workflow's ``result``.
    :param properties: what steps and callbacks have noted about the run.
    :param result_output: the output of ``result_step`` where it was loaded; see :attr:`result`.
    """

    status: WorkflowStatus
    nodes: Mapping[str, WorkflowNodeState] = field(default_factory=dict)
    failed_step: str | None = None
    failed_steps: tuple[str, ...] = ()
    error: str | None = None
    version: str | None = None
    started_version: str | None = None
    result_step: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    result_output: Any = None

    @property
    def is_succeeded(self) -> bool:
        """Whether the workflow completed."""
        return self.status == "completed"

    @property
    def result(self) -> Any:  # noqa: ANN401  # any JSON value
        """The output of the step that the workflow names as its result.

        :raises ResultNotCompletedError: when that step did not complete, or there is none.
        """
        node = self.nodes.get(self.result_step or "")
        if node is None or node.status is not NodeStatus.COMPLETED:
            raise ResultNotCompletedError(self.result_step, node.status.value if node else None)
        return self.result_output

    def to_data(self) -> dict[str, Any]:
        """Return the state as JSON data, without the result, which its step keeps itself."""
        return {
            "status": self.status,
            "failed_step": self.failed_step,
            "failed_steps": list(self.failed_steps),
            "error": self.error,
            "version": self.version,
            "started_version": self.started_version,
            "result_step": self.result_step,
            "properties": dict(self.properties),
            "nodes": {name: node.to_data() for name, node in self.nodes.items()},
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> WorkflowState:
        """Read what :meth:`to_data` wrote."""
        nodes = {}
        for name, node in data["nodes"].items():
            cause = node["failure_cause"]
            nodes[name] = WorkflowNodeState(
                **{
                    **node,
                    "node_id": name,
                    "status": NodeStatus(node["status"]),
                    "failure_cause": cause and ErrorRecord.from_data(cause),
                }
            )
        return cls(**{**data, "nodes": nodes, "failed_steps": tuple(data["failed_steps"])})
