"""Mantle workflow YAML as Airflow Dags.

Imports nothing from Airflow when it is imported itself: Airflow reads this package while it is
still starting, and ``mantle validate`` runs without Airflow. Public names load when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mantle_provider.builder.bundle import MantleDagBundle as MantleDagBundle
    from mantle_provider.builder.loader import load_airflow_dags as load_airflow_dags
    from mantle_provider.callbacks import StepCallbacks as StepCallbacks
    from mantle_provider.check import check_file as check_file
    from mantle_provider.check import check_text as check_text
    from mantle_provider.errors import ActionError as ActionError
    from mantle_provider.errors import ResultNotCompletedError as ResultNotCompletedError
    from mantle_provider.errors import WorkflowError as WorkflowError
    from mantle_provider.handlers import ErrorResolution as ErrorResolution
    from mantle_provider.handlers import WorkflowErrorHandler as WorkflowErrorHandler
    from mantle_provider.lifecycle import FailureCause as FailureCause
    from mantle_provider.lifecycle import NodeStatus as NodeStatus
    from mantle_provider.lifecycle import WorkflowNodeState as WorkflowNodeState
    from mantle_provider.lifecycle import WorkflowState as WorkflowState
    from mantle_provider.listeners import WorkflowListener as WorkflowListener
    from mantle_provider.operators.context import WorkflowContext as WorkflowContext
    from mantle_provider.operators.context import current_state as current_state
    from mantle_provider.operators.result import workflow_result as workflow_result
    from mantle_provider.snapshots import NodeResult as NodeResult
    from mantle_provider.snapshots import WorkflowInstance as WorkflowInstance
    from mantle_provider.snapshots import WorkflowNode as WorkflowNode

__version__ = "0.1.0"

_LAZY_NAMES = {
    "ActionError": "mantle_provider.errors",
    "ErrorResolution": "mantle_provider.handlers",
    "FailureCause": "mantle_provider.lifecycle",
    "MantleDagBundle": "mantle_provider.builder.bundle",
    "NodeResult": "mantle_provider.snapshots",
    "NodeStatus": "mantle_provider.lifecycle",
    "ResultNotCompletedError": "mantle_provider.errors",
    "StepCallbacks": "mantle_provider.callbacks",
    "WorkflowContext": "mantle_provider.operators.context",
    "WorkflowError": "mantle_provider.errors",
    "WorkflowErrorHandler": "mantle_provider.handlers",
    "WorkflowInstance": "mantle_provider.snapshots",
    "WorkflowListener": "mantle_provider.listeners",
    "WorkflowNode": "mantle_provider.snapshots",
    "WorkflowNodeState": "mantle_provider.lifecycle",
    "WorkflowState": "mantle_provider.lifecycle",
    "check_file": "mantle_provider.check",
    "check_text": "mantle_provider.check",
    "current_state": "mantle_provider.operators.context",
    "load_airflow_dags": "mantle_provider.builder.loader",
    "workflow_result": "mantle_provider.operators.result",
}

__all__ = [
    "ActionError",
    "ErrorResolution",
    "FailureCause",
    "MantleDagBundle",
    "NodeResult",
    "NodeStatus",
    "ResultNotCompletedError",
    "StepCallbacks",
    "WorkflowContext",
    "WorkflowError",
    "WorkflowErrorHandler",
    "WorkflowInstance",
    "WorkflowListener",
    "WorkflowNode",
    "WorkflowNodeState",
    "WorkflowState",
    "__version__",
    "check_file",
    "check_text",
    "current_state",
    "load_airflow_dags",
    "workflow_result",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # each public name has its own type
    if name in _LAZY_NAMES:
        return getattr(import_module(_LAZY_NAMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_NAMES})
