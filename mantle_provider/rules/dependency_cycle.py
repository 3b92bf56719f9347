"""Main steps wait for each other in a circle, so that none of them could ever start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote
from mantle_provider.lifecycle import reachable
from mantle_provider.rules.edges import Edge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.rules.ways import WayKind

_VERBS: dict[WayKind, str] = {"recovery": "recovers", "case": "is chosen by"}


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Show, for each group of steps that wait for each other, the shortest cycle."""
    edges = _without_free_steps(_with_ways(subject))
    told: set[str] = set()
    for name in edges:
        if name in told:
            continue
        cycle = _shortest_cycle(name, edges)
        if cycle:
            told |= _round(name, edges)
            yield _diagnostic(cycle)


def _with_ways(subject: Subject) -> dict[str, list[Edge]]:
    """Return the edges, with those from the step that another one may go to back to that one.

    A way that is a cycle by itself is another rule's.
    """
    edges = {name: [*found] for name, found in subject.edges.items()}
    for way in subject.ways:
        if way.target in edges and way not in subject.backward_ways:
            edges[way.target].append(Edge(way.target, way.source, way.path, verb=_VERBS[way.kind]))
    return edges


def _diagnostic(cycle: list[Edge]) -> Diagnostic:
    first, *rest = cycle
    chain = f"step {quote(first.source)} {first.verb} {quote(first.target)}"
    chain += "".join(f", which {edge.verb} {quote(edge.target)}" for edge in rest)
    related = tuple(
        Related(
            f"{quote(edge.source)} {edge.verb} {quote(edge.target)} here",
            edge.path,
            fragment=edge.fragment,
        )
        for edge in rest
    )
    message = f"dependency cycle: {chain}"
    return Diagnostic(
        "dependency-cycle", message, first.path, fragment=first.fragment, related=related
    )


def _without_free_steps(edges: dict[str, list[Edge]]) -> dict[str, list[Edge]]:
    """Leave out every step that could start once others have ended: no cycle holds it."""
    waiting = {name: {edge.target for edge in found} for name, found in edges.items()}
    dependents: dict[str, list[str]] = {name: [] for name in edges}
    for name, targets in waiting.items():
        for target in targets:
            dependents[target].append(name)
    free = [name for name, targets in waiting.items() if not targets]
    while free:
        ended = free.pop()
        del waiting[ended]
        for name in dependents[ended]:
            waiting[name].remove(ended)
            if not waiting[name]:
                free.append(name)
    return {name: [edge for edge in edges[name] if edge.target in waiting] for name in waiting}


def _shortest_cycle(start: str, edges: dict[str, list[Edge]]) -> list[Edge]:
    """Return the edges of a shortest way from a step back to itself; empty when there is none."""
    came_by: dict[str, Edge] = {}
    frontier = [start]
    while frontier:
        following = []
        for name in frontier:
            for edge in edges[name]:
                if edge.target in came_by:
                    continue
                came_by[edge.target] = edge
                if edge.target == start:
                    return _way_back(start, came_by)
                following.append(edge.target)
        frontier = following
    return []


def _way_back(start: str, came_by: dict[str, Edge]) -> list[Edge]:
    way = [came_by[start]]
    while way[-1].source != start:
        way.append(came_by[way[-1].source])
    return way[::-1]


def _round(name: str, edges: dict[str, list[Edge]]) -> set[str]:
    """Return the steps that a step waits for and that wait for it, itself among them."""
    targets = {source: [edge.target for edge in found] for source, found in edges.items()}
    sources: dict[str, list[str]] = {}
    for source, found in targets.items():
        for target in found:
            sources.setdefault(target, []).append(source)
    return reachable([name], targets) & reachable([name], sources)
