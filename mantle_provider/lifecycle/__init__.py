"""How runs and steps end: states, records, and the one function that judges them. Pure."""

from __future__ import annotations

from mantle_provider.lifecycle.model import (
    CONDITION,
    DEPENDENCY,
    HOOKS_TIMEOUT,
    OUTCOME,
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
from mantle_provider.lifecycle.verdict import is_blocked, verdict

__all__ = [
    "CONDITION",
    "DEPENDENCY",
    "HOOKS_TIMEOUT",
    "OUTCOME",
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
    "is_blocked",
    "topological_order",
    "verdict",
]
