"""The main steps as a graph: its edges, its order, and where a gate is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.lifecycle import GraphNode, WorkflowGraph, topological_order
from mantle_provider.workflow.references import step_dependencies

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mantle_provider.workflow.model import Workflow


def workflow_graph(workflow: Workflow) -> WorkflowGraph:
    """Return the main steps with what they depend on, in the order of the file.

    The steps of ``before_start`` come first, one after the other, and before every step that
    waits for no other; none of them can be tolerated.
    """
    nodes = []
    last: str | None = None
    for step in workflow.before_start:
        nodes.append(GraphNode(step.name, after=last))
        last = step.name
    dependencies = step_dependencies(workflow)
    is_listed = workflow.order == "listed"
    above = last
    for step in workflow.steps:
        waits_for = dependencies[step.name]
        is_root = not waits_for
        nodes.append(
            GraphNode(
                name=step.name,
                dependencies=tuple(waits_for),
                continue_on_error=step.continue_on_error,
                after=above if is_listed or is_root else None,
            )
        )
        above = step.name if is_listed else last
    return WorkflowGraph(tuple(nodes))


def upstream_steps(graph: WorkflowGraph) -> dict[str, tuple[str, ...]]:
    """Return the steps that each step directly waits for, both in topological order."""
    waits_for = {
        node.name: {*node.dependencies, *(() if node.after is None else (node.after,))}
        for node in graph.nodes
    }
    order = topological_order(waits_for)
    place = {name: index for index, name in enumerate(order)}
    return {name: tuple(sorted(waits_for[name], key=place.__getitem__)) for name in order}


def gated_steps(graph: WorkflowGraph, upstream: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return the steps at and below the dependents of a ``continue_on_error`` step.

    Only there can a step be due to run although something above it failed, which no trigger rule
    can tell from a failure that ends the branch.

    :param upstream: as :func:`upstream_steps` returns it.
    """
    tolerant = {node.name for node in graph.nodes if node.continue_on_error}
    gated: set[str] = set()
    for name, above in upstream.items():
        if any(step in tolerant or step in gated for step in above):
            gated.add(name)
    return frozenset(gated)
