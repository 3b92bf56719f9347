"""A step would recover with itself, or with a step that runs before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.edges import Edge
    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare each recovery target with the step and with what it waits for."""
    edges = subject.edges
    for placed, step in subject.decoded:
        if placed.section != "steps":
            continue
        for index, rule in enumerate(step.on_error):
            target = rule.transition_to
            if target is None:
                continue
            path = (*placed.path, "on_error", index, "transition_to")
            if target == step.name:
                message = f'step {quote(target)} cannot recover with itself; use "retry"'
                yield Diagnostic("invalid-transition", message, path)
            elif target in _ancestors(step.name, edges):
                message = (
                    f"step {quote(step.name)} cannot recover with {quote(target)},"
                    " which runs before it"
                )
                yield Diagnostic("invalid-transition", message, path)


def _ancestors(name: str, edges: dict[str, list[Edge]]) -> set[str]:
    found: set[str] = set()
    pending = [name]
    while pending:
        for edge in edges.get(pending.pop(), []):
            if edge.target not in found:
                found.add(edge.target)
                pending.append(edge.target)
    return found
