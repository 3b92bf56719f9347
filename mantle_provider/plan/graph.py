"""The main steps as a graph: its edges, its order, and where a gate is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mantle_provider.lifecycle import GraphNode, WorkflowGraph, reachable
from mantle_provider.workflow.references import step_dependencies

if TYPE_CHECKING:
    from mantle_provider.workflow.model import Step, Workflow


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
    targets = _targets(workflow)
    is_listed = workflow.order == "listed"
    above = last
    for step in workflow.steps:
        waits_for = dependencies[step.name]
        is_root = not waits_for and step.name not in targets
        nodes.append(
            GraphNode(
                name=step.name,
                dependencies=tuple(waits_for),
                continue_on_error=step.continue_on_error,
                after=above if is_listed or is_root else None,
                on_dep_failure=step.on_dep_failure,
                transitions=_transitions(step),
                cases=tuple(dict.fromkeys(case.to for case in step.switch)),
            )
        )
        above = step.name if is_listed else last
    return _with_handler_targets(WorkflowGraph(tuple(nodes)), workflow)


def _with_handler_targets(graph: WorkflowGraph, workflow: Workflow) -> WorkflowGraph:
    """Return the graph with the ways that the error handler may take.

    Any main step may go to any target that does not run before it; of two targets only to one
    further down in the handler's list, since both could not wait for each other.
    """
    if workflow.error_handler is None:
        return graph
    first = {step.name for step in workflow.before_start}
    for target in reversed(workflow.error_handler.targets):
        behind = _behind(graph, target)
        graph = WorkflowGraph(
            tuple(
                node
                if node.name in behind or node.name in first or target in node.transitions
                else replace(node, transitions=(*node.transitions, target))
                for node in graph.nodes
            )
        )
    return graph


def gated_steps(graph: WorkflowGraph) -> frozenset[str]:
    """Return the steps that ask at their start whether they may run.

    They stand at and below what waits for a step with ``continue_on_error``, with a transition or
    with a ``switch``, and in a list below a failure that may stay in its branch. Only there can a
    step be due to run although something above it failed, or not to run although nothing did,
    which no trigger rule can tell.
    """
    asked_for = {
        node.name
        for node in graph.nodes
        if node.continue_on_error or node.transitions or node.cases
    }
    # Steps that a contained failure may leave failed or cancelled.
    contained = set(graph.containable)
    gated: set[str] = set()
    for name, above in graph.upstream.items():
        node = graph.by_name[name]
        if not contained.isdisjoint(node.dependencies):
            contained.add(name)
        is_listed_below = node.after in contained
        if is_listed_below or any(step in asked_for or step in gated for step in above):
            gated.add(name)
    return frozenset(gated)


def _targets(workflow: Workflow) -> frozenset[str]:
    """Return the steps that wait for another one to choose them."""
    handler = workflow.error_handler
    ways = [*(handler.targets if handler else ())]
    for step in workflow.steps:
        ways += (*_transitions(step), *(case.to for case in step.switch))
    return frozenset(ways)


def _transitions(step: Step) -> tuple[str, ...]:
    found = (rule.transition_to for rule in step.on_error)
    return tuple(dict.fromkeys(target for target in found if target is not None))


def _behind(graph: WorkflowGraph, name: str) -> frozenset[str]:
    """Return a step and all that wait for it, over whatever edges."""
    below: dict[str, list[str]] = {}
    for step, above in graph.upstream.items():
        for other in above:
            below.setdefault(other, []).append(step)
    return frozenset(reachable([name], below))
