"""What a run that completes may lack, since a failure stays in its branch or is recovered. No rule.

The handler's ways are not looked at: any failed attempt may take them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.lifecycle import GraphNode, WorkflowGraph

if TYPE_CHECKING:
    from mantle_provider.rules.subject import Subject


def incomplete_steps(subject: Subject) -> dict[str, str]:
    """Return main step -> in words what may have kept it from completing in a completed run."""
    graph = _graph(subject)
    try:
        contained = {
            name for name in graph.containable if not graph.by_name[name].continue_on_error
        }
    except ValueError:
        return {}  # dependency-cycle says so
    failed, cancelled = set(contained), _cancelled(graph, contained, set())
    for node in graph.nodes:
        for target in node.transitions:
            failed.add(node.name)
            led_to = {target} | graph.all_dependents(target)
            cancelled |= _cancelled(graph, {node.name}, led_to)
    return {
        **dict.fromkeys(cancelled, "may have been cancelled"),
        **dict.fromkeys(failed, "may have failed"),
    }


def _cancelled(graph: WorkflowGraph, failed: set[str], spared: set[str]) -> set[str]:
    """Return the steps below failed ones, but those that are ``spared`` and wait for no other."""
    found: set[str] = set()
    for name in graph.upstream:
        above = graph.by_name[name].dependencies
        is_first = name not in spared and not failed.isdisjoint(above)
        if is_first or not found.isdisjoint(above):
            found.add(name)
    return found


def _graph(subject: Subject) -> WorkflowGraph:
    steps = subject.main_names
    targets: dict[str, list[str]] = {}
    for way in subject.ways:
        if way.kind == "recovery" and way.target in steps:
            targets.setdefault(way.source, []).append(way.target)
    nodes = []
    for name, placed in steps.items():
        step = placed.step
        nodes.append(
            GraphNode(
                name,
                dependencies=tuple(dict.fromkeys(edge.target for edge in subject.edges[name])),
                continue_on_error=step is not None and step.continue_on_error,
                on_dep_failure=step.on_dep_failure if step else "fail_run",
                transitions=tuple(dict.fromkeys(targets.get(name, ()))),
            )
        )
    return WorkflowGraph(tuple(nodes))
