"""What waits for what among the main steps, with the place that says so. No rule itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mantle_provider.rules.subject import PlacedReference, Subject
    from mantle_provider.source.span import Fragment, Path


@dataclass(frozen=True, slots=True)
class Edge:
    """Step ``source`` waits for step ``target``.

    :param verb: why: ``waits for``, or for a step that another one may go to ``recovers`` or
        ``is chosen by``.
    """

    source: str
    target: str
    path: Path
    reference: PlacedReference | None = None
    verb: str = "waits for"

    @property
    def fragment(self) -> Fragment | None:
        """The reference in its expression; ``None`` for an entry of ``depends_on``."""
        return self.reference.fragment if self.reference else None


def find_edges(subject: Subject) -> dict[str, list[Edge]]:
    """Return for each main step the edges to other main steps: declared first, then read."""
    edges: dict[str, list[Edge]] = {name: [] for name in subject.main_names}
    for placed, step in subject.decoded:
        if placed.section == "steps":
            edges[step.name] += [
                Edge(step.name, name, (*placed.path, "depends_on", index))
                for index, name in enumerate(step.depends_on)
            ]
    for item in subject.references_to("steps", "artifacts"):
        target = _step_read(subject, item)
        if item.placed.section == "steps" and item.placed.name and target:
            edge = Edge(item.placed.name, target, item.expression.path, item)
            edges[edge.source].append(edge)
    return {
        source: [edge for edge in found if edge.target in edges and edge.target != source]
        for source, found in edges.items()
    }


def _step_read(subject: Subject, item: PlacedReference) -> str | None:
    """Return the step that a reference reads, of an artifact the one that leaves it behind."""
    if item.reference.root == "steps" or item.name is None:
        return item.name
    maker = subject.artifact_makers.get(item.name)
    return maker.name if maker else None
