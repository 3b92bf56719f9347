"""Where a main step may go besides what depends on it: to recover, or as a router. No rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from mantle_provider.lifecycle import reachable

if TYPE_CHECKING:
    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path

WayKind: TypeAlias = Literal["recovery", "case"]


@dataclass(frozen=True, slots=True)
class Way:
    """Step ``source`` may go to step ``target``, which therefore waits for it."""

    source: str
    target: str
    path: Path
    kind: WayKind


def find_ways(subject: Subject) -> list[Way]:
    """Return the ways that main steps name, in the order of the file; not the handler's."""
    ways = []
    for placed, step in subject.decoded:
        if placed.section != "steps":
            continue
        for index, case in enumerate(step.switch):
            path = (*placed.path, "switch", index, "else" if case.when is None else "to")
            ways.append(Way(step.name, case.to, path, "case"))
        for index, rule in enumerate(step.on_error):
            if rule.transition_to is not None:
                path = (*placed.path, "on_error", index, "transition_to")
                ways.append(Way(step.name, rule.transition_to, path, "recovery"))
    return ways


def find_backward(subject: Subject) -> list[Way]:
    """Return the ways that lead to their own step, or to one that runs before it."""
    behind = {target: steps_behind(subject, target) for target in {w.target for w in subject.ways}}
    return [way for way in subject.ways if way.source in behind[way.target]]


def steps_behind(subject: Subject, name: str) -> set[str]:
    """Return a step and all that depend on it, at any distance."""
    return reachable([name], subject.dependents)


def passed_by(subject: Subject) -> set[str]:
    """Return the steps that do not run in a run where no step goes to them.

    They are the targets without a dependency of their own, and what depends on nothing else.
    """
    sources: dict[str, set[str]] = {}
    for way in subject.ways:
        sources.setdefault(way.target, set()).add(way.source)
    handler = subject.workflow.error_handler
    for target in handler.targets if handler else ():
        sources.setdefault(target, set())
    found: set[str] = set()
    while True:
        more = {
            name
            for name, edges in subject.edges.items()
            if name not in found
            and (name in sources or edges)
            and all(
                edge.target in found for edge in edges if edge.target not in sources.get(name, ())
            )
        }
        if not more:
            return found
        found |= more
