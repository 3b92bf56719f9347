"""The main steps as a graph, with what the lifecycle needs to know of each. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mantle_provider.lifecycle.order import reachable, topological_order

if TYPE_CHECKING:
    from collections.abc import Mapping

DependencyPolicy: TypeAlias = Literal["fail_run", "cancel_branch"]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """What the lifecycle needs to know about a main step.

    :param dependencies: steps by ``depends_on`` and references.
    :param after: the step above, under ``order: listed``, or the last step of ``before_start``; an
        edge that only orders.
    :param on_dep_failure: what this step says when a dependency fails for good.
    :param transitions: the steps that it may recover with.
    :param cases: the steps that it may go to as a router.
    """

    name: str
    dependencies: tuple[str, ...] = ()
    continue_on_error: bool = False
    after: str | None = None
    on_dep_failure: DependencyPolicy = "fail_run"
    transitions: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


_DEFAULTS = {declared.name: declared.default for declared in fields(GraphNode)}


@dataclass(frozen=True)
class WorkflowGraph:
    """The main steps of a workflow in the order of the file."""

    nodes: tuple[GraphNode, ...]

    def to_data(self) -> list[dict[str, Any]]:
        """Return the graph as JSON data: one map per node, without what has its default."""
        return [
            {
                name: list(value) if isinstance(value, tuple) else value
                for name, default in _DEFAULTS.items()
                if (value := getattr(node, name)) != default
            }
            for node in self.nodes
        ]

    @classmethod
    def from_data(cls, data: list[dict[str, Any]]) -> WorkflowGraph:
        """Read what :meth:`to_data` wrote."""
        lists = ("dependencies", "transitions", "cases")
        return cls(
            tuple(
                GraphNode(**{**node, **{name: tuple(node.get(name, ())) for name in lists}})
                for node in data
            )
        )

    @cached_property
    def by_name(self) -> Mapping[str, GraphNode]:
        """The nodes by their names."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def sources(self) -> Mapping[str, tuple[str, ...]]:
        """Step -> the steps that may go to it: to recover, or as routers."""
        sources: dict[str, list[str]] = {node.name: [] for node in self.nodes}
        for node in self.nodes:
            for target in dict.fromkeys((*node.transitions, *node.cases)):
                sources[target].append(node.name)
        return {name: tuple(found) for name, found in sources.items()}

    @cached_property
    def upstream(self) -> Mapping[str, tuple[str, ...]]:
        """Step -> the steps that must have ended before it starts; both in topological order.

        :raises ValueError: the graph has a cycle.
        """
        waits_for = {
            node.name: {
                *node.dependencies,
                *self.sources[node.name],
                *(() if node.after is None else (node.after,)),
            }
            for node in self.nodes
        }
        order = topological_order(waits_for)
        place = {name: index for index, name in enumerate(order)}
        return {name: tuple(sorted(waits_for[name], key=place.__getitem__)) for name in order}

    @cached_property
    def dependents(self) -> Mapping[str, tuple[str, ...]]:
        """Step -> the steps that directly depend on it, in the order of the file."""
        dependents: dict[str, list[str]] = {node.name: [] for node in self.nodes}
        for node in self.nodes:
            for dependency in node.dependencies:
                dependents[dependency].append(node.name)
        return {name: tuple(found) for name, found in dependents.items()}

    def all_dependents(self, name: str) -> frozenset[str]:
        """Return the steps that depend on one, directly or at any distance."""
        return frozenset(reachable(self.dependents[name], self.dependents))

    @cached_property
    def containable(self) -> frozenset[str]:
        """The steps whose failure stays in their branch (LANGUAGE, "Failure keys", row 9).

        Such a step has dependents, and all of them, at any distance, say ``cancel_branch``.
        """
        strict: set[str] = set()
        for name in reversed([*self.upstream]):
            below = self.dependents[name]
            if any(
                step in strict or self.by_name[step].on_dep_failure == "fail_run" for step in below
            ):
                strict.add(name)
        return frozenset(
            name for name, below in self.dependents.items() if below and name not in strict
        )
