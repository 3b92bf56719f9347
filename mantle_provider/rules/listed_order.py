"""With ``order: listed`` a step waits for one that stands below it, and so for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare the two ends of each edge with their places in the file."""
    if subject.workflow.order != "listed":
        return
    places = {name: index for index, name in enumerate(subject.main_names)}
    order = Related("the order is set here", ("order",))
    for edges in subject.edges.values():
        for edge in edges:
            if places[edge.target] > places[edge.source]:
                message = (
                    f"step {quote(edge.source)} waits for {quote(edge.target)}, which stands below"
                    ' it, while the order is "listed"; move one of them'
                )
                yield Diagnostic(
                    "listed-order", message, edge.path, fragment=edge.fragment, related=(order,)
                )
    for way in subject.ways:
        is_above = way.target in places and places[way.target] < places[way.source]
        if is_above and way not in subject.backward_ways:
            message = (
                f"step {quote(way.source)} goes to {quote(way.target)}, which stands above it,"
                ' while the order is "listed"; move one of them'
            )
            yield Diagnostic("listed-order", message, way.path, related=(order,))
