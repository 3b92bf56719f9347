"""How a run went, as lines for a log: what failed first, why, and what came of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.lifecycle.model import NodeStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mantle_provider.lifecycle.model import WorkflowNodeState, WorkflowState

MAX_NAMES = 50
"""How many steps one line names; ``mantle status`` has them all."""


def tell_verdict(state: WorkflowState) -> str:
    """Return in one line how the workflow ended."""
    where = f' at step "{state.failed_step}"' if state.failed_step else ""
    return f"workflow {state.status}{where}{f': {state.error}' if state.error else ''}"


def tell_failures(state: WorkflowState) -> Iterator[str]:
    """Yield each failure and what was cancelled because of it, then what else was cancelled.

    The first cause comes first, the other failures follow in the order of time.
    """
    victims = _victims(state)
    for name in state.failed_steps:
        node = state.nodes[name]
        yield f"{_title(state, node)}: step {_failure(node)}"
        if node.failure_cause:
            yield from (
                f"  caused by {cause.type}: {cause.message}" for cause in node.failure_cause.causes
            )
        if name in victims:
            yield f"  cancelled because of it: {_names(victims[name])}"
    for node in state.nodes.values():
        if node.status is NodeStatus.CANCELLED and node.cancelled_by not in state.failed_steps:
            yield f'cancelled: step "{node.node_id}"{_because(node)}'


def tell_rest(state: WorkflowState) -> Iterator[str]:
    """Yield the steps that neither failed nor were cancelled."""
    for node in state.nodes.values():
        if node.status is NodeStatus.SKIPPED:
            yield f'skipped: step "{node.node_id}"{_because(node)}'
        elif node.status is NodeStatus.NOT_RUN:
            yield f'not run: step "{node.node_id}"{_because(node)}'
    completed = [name for name, node in state.nodes.items() if node.status is NodeStatus.COMPLETED]
    if completed:
        yield f"completed: {_names(completed)}"


def _victims(state: WorkflowState) -> dict[str, list[str]]:
    """Return failed step -> the steps that were cancelled because of it."""
    victims: dict[str, list[str]] = {}
    for name, node in state.nodes.items():
        if node.cancelled_by is not None:
            victims.setdefault(node.cancelled_by, []).append(name)
    return victims


def _title(state: WorkflowState, node: WorkflowNodeState) -> str:
    if node.node_id == state.failed_step:
        return "first cause"
    return f"{node.effect} failure"


def _failure(node: WorkflowNodeState) -> str:
    cause = node.failure_cause
    if cause is None:
        return f'"{node.node_id}" {node.status.value}: {node.reason}'
    way = f'; went to "{cause.target}"' if cause.target and node.effect == "recovered" else ""
    attempt = f"{cause.phase}, try {cause.try_number}"
    return f'"{node.node_id}" {node.status.value} in {attempt}: {cause.type}: {cause.message}{way}'


def _because(node: WorkflowNodeState) -> str:
    return f" ({node.reason})" if node.reason else ""


def _names(names: Iterable[str]) -> str:
    found = [f'"{name}"' for name in names]
    rest = len(found) - MAX_NAMES
    return ", ".join(found[:MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")
