"""How runs and steps end: states, records, and the one function that judges them. Pure."""

from __future__ import annotations

from mantle_provider.lifecycle.model import (
    ADMISSION,
    CONDITION,
    DEPENDENCY,
    EXECUTION_END_FIELDS,
    EXECUTION_FIELDS,
    FAIL_FAST,
    HOOKS_TIMEOUT,
    OUTCOME,
    REJECTED,
    STEP_TIMEOUT,
    WORKFLOW_TIMEOUT,
    Cause,
    Effect,
    ErrorRecord,
    GraphNode,
    NodeStatus,
    Phase,
    WorkflowGraph,
    WorkflowNodeState,
    WorkflowState,
    WorkflowStatus,
)
from mantle_provider.lifecycle.order import topological_order
from mantle_provider.lifecycle.verdict import failed_status, first_fatal, is_blocked, verdict

__all__ = [
    "ADMISSION",
    "CONDITION",
    "DEPENDENCY",
    "EXECUTION_END_FIELDS",
    "EXECUTION_FIELDS",
    "FAIL_FAST",
    "HOOKS_TIMEOUT",
    "OUTCOME",
    "REJECTED",
    "STEP_TIMEOUT",
    "WORKFLOW_TIMEOUT",
    "Cause",
    "Effect",
    "ErrorRecord",
    "GraphNode",
    "NodeStatus",
    "Phase",
    "WorkflowGraph",
    "WorkflowNodeState",
    "WorkflowState",
    "WorkflowStatus",
    "failed_status",
    "first_fatal",
    "is_blocked",
    "topological_order",
    "verdict",
]
